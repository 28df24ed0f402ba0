package decode

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/learner"
)

// Config describes the records. Its zero value reads the first two JSON forms,
// takes the columns of the first valid record, and derives the task from the first
// label.
type Config struct {
	Format  string `json:"format"` // one of Formats; for a File also "csv" and "libsvm"; empty: detected
	Label   string `json:"label"`  // field with the label; empty: "y" or "label"; for task novelty, a field that is neither an input nor learned
	Key     string `json:"key"`    // field with the key; empty: "key", beside "x" or "features"
	Weight  string `json:"weight"` // field with the weight; empty: "weight", beside "x" or "features"
	NoLabel bool   `json:"-"`      // accept a CSV file without a label column, and flat JSON objects without a configured label

	// Labels are the fields of a regression with several targets, used instead of
	// Label. A single one is equivalent to Label.
	Labels []string `json:"labels,omitempty"`

	Columns []string `json:"columns"` // inputs, in any order; nil: those of the first valid record
	Missing string   `json:"missing"` // a column that is absent or null: "quarantine" (or empty), "zero", or "impute": the value is NaN
	Unknown string   `json:"unknown"` // a field that is not a column: "quarantine" (or empty), or "ignore"

	// Types has the declared types of fields. Those of columns are for example "numeric",
	// "category", "boolean" or "time"; Ignored and ID are for fields that are not columns. The
	// types of all other columns are inferred from their first values if Infer is set, and
	// numeric otherwise.
	Types map[string]string `json:"types,omitempty"`
	Infer bool              `json:"infer,omitempty"`

	// Windows are columns that are statistics of the earlier records of a key.
	Windows []Window `json:"windows,omitempty"`

	// Tables are compacted topics whose rows add columns to records. See Decoder.SetTables.
	Tables []Table `json:"tables,omitempty"`

	// Sparse is for records with very many possible columns, of which each record has few. Each
	// input is hashed by its name, and the columns of a row are projections of all inputs. If a
	// name comes twice, its values are added. Types may be TextColumn, Ignored and ID.
	Sparse bool `json:"sparse,omitempty"`

	// Depth is the number of levels of objects and lists whose values become columns. These are
	// named by their paths, as in customer.address.city or features.0. With 0, values in objects
	// and lists are not columns.
	Depth int `json:"depth,omitempty"`

	// Grams gives the n-grams of a text columns with their keys, after those with their shares. It is not
	// set for models that are older than this option.
	Grams bool `json:"grams,omitempty"`

	// Zones accepts more time zones than Z and +01:00 in times: UTC, GMT, +0100 and +01, each also after a
	// space. It is not set for models that are older than this option.
	Zones bool `json:"zones,omitempty"`

	// Counts refuses negative labels, which the loss poisson cannot learn. It is not set for models that
	// are older than this option.
	Counts bool `json:"counts,omitempty"`

	// Framed means that each record names its schema in a registry, in the framing of the
	// registry's serializers. Reader is a schema in the language of the format. For Framed
	// records it is the reader's schema, otherwise the schema with which records are written.
	Reader string `json:"reader,omitempty"`
	Framed bool   `json:"framed,omitempty"`

	Task       learner.Task `json:"task"`        // Auto: derived from the first label
	MaxClasses int          `json:"max_classes"` // maximum number of classes; 256

	MaxBytes   int     `json:"max_bytes"`   // size of a record; 1 MiB
	MaxColumns int     `json:"max_columns"` // 100,000
	MaxAbs     float64 `json:"max_abs"`     // of an input or a label; 1e30

	// Adopt turns fields that appear later into columns, as well as fields whose values now have
	// another type: the Schema grows after adoptAfter records with such a field. Fixed keeps the
	// columns as they are, for processes that serve a model.
	Adopt bool `json:"adopt,omitempty"`
	Fixed bool `json:"-"`

	// Renames lets the learner read a column that has vanished from an adopted field, if that
	// improves the predictions. It is not set for models that are older than this option.
	Renames bool `json:"renames,omitempty"`

	// ByTime means that the records of a BATCH are decoded in the order of their timestamps.
	// Records of one partition stay in their order.
	ByTime bool `json:"by_time,omitempty"`

	// Time is the field with the event time of a record: a time or seconds since 1970. It is also
	// a column unless it is declared as an ID. If Time is empty, the event time is the timestamp
	// of the record, which rows of files do not have.
	Time string `json:"time,omitempty"`

	// Late describes labels that come later than their rows. If nil, labels come with their rows.
	Late *join.Config `json:"late,omitempty"`

	// Above is a number that every input has to exceed; 0: no bound. See learner.Config.Above.
	Above float64 `json:"above,omitempty"`
}

const (
	maxAbs       = 1e30 // of an input or a label
	maxWeight    = 1e6
	maxClassName = 256 // bytes
)

// withDefaults returns c with the defaults of its limits, Missing and Unknown.
func (c Config) withDefaults() Config {
	if c.MaxClasses == 0 {
		c.MaxClasses = 256
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 1 << 20
	}
	if c.MaxColumns == 0 {
		c.MaxColumns = 100_000
	}
	if c.MaxAbs == 0 {
		c.MaxAbs = maxAbs
	}
	if c.Missing == "" {
		c.Missing = "quarantine"
	}
	if c.Unknown == "" {
		c.Unknown = "quarantine"
	}
	if c.Adopt {
		c.Unknown = "ignore"
	}
	return c
}

// Effective returns c with all defaults filled in, or an error if c is invalid.
func (c Config) Effective() (Config, error) {
	c = c.withDefaults()
	switch {
	case len(c.Labels) == 0:
		c.Labels = nil
	case len(c.Labels) == 1 && c.Label == "":
		c.Label, c.Labels = c.Labels[0], nil
	}
	if len(c.Labels) > 1 && c.Task == learner.Auto {
		c.Task = learner.Regression
	}
	switch {
	case len(c.Labels) > 0 && c.Label != "":
		return c, fmt.Errorf("input.label is %q and a list of %d: want one of them", c.Label, len(c.Labels))
	case len(c.Labels) > learner.MaxTargets:
		return c, fmt.Errorf("input.label has %d fields: want at most %d", len(c.Labels), learner.MaxTargets)
	case len(c.Labels) > 1 && c.Task != learner.Regression:
		return c, fmt.Errorf("input.label has %d fields, but the task is %v: several labels need task regression", len(c.Labels), c.Task)
	case c.Missing != "quarantine" && c.Missing != "zero" && c.Missing != "impute":
		return c, fmt.Errorf("input.missing is %q: want impute, quarantine or zero", c.Missing)
	case c.Above != 0 && (c.Infer || len(c.Types) > 0):
		return c, fmt.Errorf("input.columns has types, but the kernel requires numeric inputs %s", kernel.Domain(c.Above))
	case c.Unknown != "quarantine" && c.Unknown != "ignore":
		return c, fmt.Errorf("input.unknown is %q: want quarantine or ignore", c.Unknown)
	case c.MaxClasses < 2:
		return c, fmt.Errorf("max_classes is %d: want at least 2", c.MaxClasses)
	case c.ByTime && c.Late != nil:
		return c, fmt.Errorf("input.order: records with late labels are read by their times anyway: leave it out")
	case c.Depth < 0, c.Depth > maxDepth/2:
		return c, fmt.Errorf("depth is %d: want 0 to %d", c.Depth, maxDepth/2)
	case c.MaxBytes < 0, c.MaxColumns < 0, !(c.MaxAbs > 0):
		return c, fmt.Errorf("an input limit is negative")
	case c.Task < learner.Auto || c.Task > learner.Novelty:
		return c, fmt.Errorf("unknown task %d", int(c.Task))
	}
	if err := c.checkRoles(); err != nil {
		return c, err
	}
	if c.Sparse {
		declared := func(name string) bool { return c.Types[name] != "" }
		if !slices.ContainsFunc(c.Columns, func(name string) bool { return !declared(name) }) {
			c.Columns = nil // all of them are declared: they say how fields are read, not which fields
		}
		if err := c.checkSparse(); err != nil {
			return c, err
		}
	}
	if c.Late != nil {
		if err := c.checkLate(); err != nil {
			return c, err
		}
	}
	if err := c.checkTables(); err != nil {
		return c, err
	}
	if len(c.Types) == 0 {
		c.Types = nil
	}
	if err := cmp.Or(c.checkTypes(), c.checkAdopt()); err != nil {
		return c, err
	}
	if c.Columns != nil {
		c.Columns = slices.Clone(c.Columns)
		schema.Order(c.Columns)
		if twice, ok := schema.Repeated(c.Columns); ok {
			return c, fmt.Errorf("input.columns: duplicate column %q", twice)
		}
		if len(c.Columns) == 0 || len(c.Columns) > c.MaxColumns {
			return c, fmt.Errorf("input.columns has %d names: want 1 to %d", len(c.Columns), c.MaxColumns)
		}
	}
	return c, c.checkWindows()
}

// checkRoles checks the fields that have a role.
func (c *Config) checkRoles() error {
	names := append([]string{c.Label, c.Key, c.Weight}, c.Labels...)
	for i, name := range names {
		if name != "" && slices.Contains(names[:i], name) {
			return fmt.Errorf("input.label, input.key and input.weight must differ, but two are %q", name)
		}
		if name != "" && slices.Contains(c.Columns, name) {
			return fmt.Errorf("input.columns: %q is also the label, the key or the weight", name)
		}
	}
	if slices.Contains(c.Labels, "") {
		return fmt.Errorf("input.label has a field without a name")
	}
	return nil
}

// AsJSON returns c, changed to read the same records written as JSON.
func (c Config) AsJSON() Config {
	c.Format, c.Reader, c.Framed = "", "", false
	return c
}

// Targets returns the number of targets of a label.
func (c Config) Targets() int { return max(1, len(c.Labels)) }

// Version is the version of the decoder. Only a program with the same version decodes a log
// again. Version has to be incremented with every change by which some record decodes to
// another row, or is no longer rejected, or is newly rejected.
const Version = 1

// checkLate checks Late. The field with the key is not an input unless it is declared as one.
func (c *Config) checkLate() error {
	if err := c.Late.Check(); err != nil {
		return err
	}
	f, err := recordFormat(c.Format)
	if err != nil {
		return err
	}
	path, field := join.Field(c.Late.Key)
	json := f.name == jsonFormat.name
	switch {
	case c.Task == learner.Novelty:
		return errors.New("input.labels: task novelty learns without labels")
	case !json && (field || c.Late.Time != "" || c.Late.Topic == ""):
		return fmt.Errorf("input.labels: records of format %s need a topic of labels, and a key that is input.key, the key of the record or a header", f.name)
	case c.Late.Label == "" && c.Label == "" && c.Labels == nil:
		return errors.New("input.labels: set input.label to the field that has the label")
	case c.Labels != nil && (c.Late.Timeout != "" || c.Late.Label != ""):
		return errors.New("input.labels: on_timeout and field are for one label: want drop, and no field, with several fields in input.label")
	}
	if _, declared := c.Types[path]; field && !declared && !slices.Contains(c.Columns, path) && path != c.Key {
		types := map[string]string{path: schema.ID}
		maps.Copy(types, c.Types)
		c.Types = types
	}
	return nil
}
