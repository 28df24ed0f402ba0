package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/csvline"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/hints"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learner"
)

// newCSV reads the header of a file.
func newCSV(l *source.Limited, d *Decoder) (*csvRows, error) {
	head, _ := l.From.Peek(source.HeadBytes)
	comma := csvline.Separator(head)
	c := &csvRows{in: csvline.NewReader(l, comma), limited: l, d: d, at: map[string]int{}, numbers: csvline.Numbers{Comma: byte(comma), Most: d.config.MaxAbs}}
	err := c.readHeader()
	if err != nil {
		return nil, err
	}
	if c.ys, err = c.labels(); err != nil {
		return nil, err
	}
	if c.key, err = c.find(d.config.Key, "key"); err != nil {
		return nil, err
	}
	if c.w, err = c.find(d.config.Weight, "weight"); err != nil {
		return nil, err
	}
	if err := c.checkDeclared(); err != nil {
		return nil, err
	}
	inputs := len(c.header)
	none := -1
	if c.unnamed {
		none = 0
	}
	for _, i := range append([]int{c.key, c.w, none}, c.ys...) {
		if i >= 0 {
			c.names[i] = nil
			inputs--
		}
	}
	if inputs == 0 {
		return nil, errors.New("no input columns")
	}
	if inputs > d.config.MaxColumns {
		return nil, fmt.Errorf("%d inputs, the limit is %d", inputs, d.config.MaxColumns)
	}
	return c, nil
}

// readHeader reads the names of the columns. Only the first may have none.
func (c *csvRows) readHeader() error {
	header, _, err := c.in.Read()
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	c.header, c.names = make([]string, len(header)), make([][]byte, len(header))
	for i, name := range header {
		name = strings.TrimSpace(name)
		switch _, twice := c.at[name]; {
		case name == "" && i == 0 && len(header) > 1:
			c.unnamed = true
		case name == "":
			return fmt.Errorf("column %d has no name in the header: name it, or remove it from all lines", i+1)
		case !utf8.ValidString(name):
			return fmt.Errorf("the name of column %d, %s, is not UTF-8: convert the file, for example with iconv -f latin1 -t utf-8", i+1, excerpt.Quote(name))
		case twice:
			return fmt.Errorf("two columns are named %s: rename one of them in the header", excerpt.Quote(name))
		}
		c.header[i], c.names[i], c.at[name] = name, []byte(name), i
	}
	return nil
}

// labels returns the indices of the labels: of the columns that are configured or, if none is, of y
// or label. An index is -1 if there is no such column.
func (c *csvRows) labels() (ys []int, err error) {
	cfg := c.d.config
	names := cfg.Labels
	if cfg.Label != "" {
		names = []string{cfg.Label}
	}
	for _, name := range names {
		y, err := c.find(name, "label")
		if err != nil && !cfg.NoLabel {
			return nil, err
		}
		ys = append(ys, y)
	}
	if names != nil {
		return ys, nil
	}
	y, label := slices.Index(c.header, "y"), slices.Index(c.header, "label")
	switch {
	case y >= 0 && label >= 0:
		return nil, errors.New("there are columns y and label: choose the label with --label (input.label)")
	case y >= 0 || label >= 0:
		return []int{max(y, label)}, nil
	case cfg.NoLabel || cfg.Task == learner.Novelty:
		return []int{-1}, nil
	case len(c.header) == 1:
		return nil, fmt.Errorf("the first line is %s: is this a CSV file with a header?", excerpt.Quote(c.header[0]))
	}
	return nil, fmt.Errorf("no column is named y or label: choose the label with --label (input.label) from the columns %s%s", excerpt.List(c.header), headless(c.header))
}

// find returns the index of the column with a configured name, or -1 if no name is configured.
func (c *csvRows) find(name, what string) (int, error) {
	if name == "" {
		return -1, nil
	}
	if i, ok := c.at[name]; ok {
		return i, nil
	}
	return -1, fmt.Errorf("there is no column %s, which is configured as the %s%s; the columns are %s%s", excerpt.Quote(name), what, didYouMean(name, c.header), excerpt.List(c.header), headless(c.header))
}

// headless returns a hint if a header consists of numbers, as the first row of a file without one does.
func headless(header []string) string {
	for _, name := range header {
		if cell(name).kind != num {
			return ""
		}
	}
	return "; if the first line is a row, write a header before it"
}

// didYouMean returns a hint to the name that is nearest to a misspelt one, or "".
func didYouMean(name string, names []string) string {
	if near := spell.Nearest(name, names); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", excerpt.Quote(near))
	}
	return ""
}

// infer derives the types of inputs from the first rows. They apply to columns whose
// type is neither declared nor known.
func (c *csvRows) infer(look []line) error {
	d := c.d
	if !d.config.Infer {
		return nil
	}
	if d.hints == nil {
		d.hints = map[string]learner.ColumnType{}
	}
	var texts []string
	for i, name := range c.header {
		if c.names[i] == nil {
			continue
		}
		var t csvline.Tally
		for _, l := range look {
			if l.err == nil {
				t.Add(l.cells[i])
			}
		}
		if _, declared := d.config.Types[name]; t.Comma() != "" && !declared {
			return fmt.Errorf("column %s has numbers with commas, such as %s: write them with decimal points and without thousands separators, or declare the type of the column, for example %s:category (--columns, or input.columns)", excerpt.Quote(name), excerpt.Quote(t.Comma()), name)
		}
		is, ok := t.Type()
		if ok {
			d.hints[name] = is
		}
		if ok && is == learner.CategoryColumn && d.config.Grams && looksLikeText(look, i) {
			texts = append(texts, name)
		}
	}
	d.inferTexts(texts, c.header)
	return nil
}

// looksLikeText reports whether column i is probably a text.
func looksLikeText(look []line, i int) bool {
	values := hints.New()
	for _, l := range look {
		if l.err == nil && !csvline.IsMissing(l.cells[i]) {
			values.Text(nil, []byte(l.cells[i]))
		}
	}
	return values.IsText("")
}

// use determines as which type the cells of each column are read.
func (c *csvRows) use() {
	c.types = make([]learner.ColumnType, len(c.header))
	for i, header := range c.header {
		name := c.readAs(i)
		c.types[i] = c.d.firstType(name)
		if at, ok := c.d.column[name]; ok && c.d.typeOf(at) != learner.UnknownColumn {
			c.types[i] = c.d.typeOf(at)
		}
		for _, a := range c.d.aliases {
			if a.field == header {
				c.types[i] = a.is
			}
		}
	}
}

// readAs returns the name of the field as which column i of the file is read.
func (c *csvRows) readAs(i int) string {
	if r := c.d.renamed[c.header[i]]; r != nil {
		return string(r.column)
	}
	return c.header[i]
}

// checkDeclared returns an error if a declared column is not in the header. A file that is
// read with a known schema may lack some of the columns, but not all. With Config.NoLabel,
// declared fields that are not columns may be missing.
func (c *csvRows) checkDeclared() error {
	cfg := c.d.config
	if c.d.continues && !cfg.Sparse {
		return c.checkKnown()
	}
	names := slices.Clone(cfg.Columns)
	for name, t := range cfg.Types {
		switch {
		case t == schema.Pair:
			a, b, _ := splitPair(name)
			names = append(names, a, b)
		case !schema.IsExcluded(t) || !cfg.NoLabel:
			names = append(names, name)
		}
	}
	if !cfg.NoLabel {
		names = append(names, cfg.windowFields()...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, ok := c.at[name]; !ok {
			return c.noColumn(name)
		}
	}
	for _, y := range c.ys { // Config.Effective has checked labels that are configured
		if y < 0 {
			continue
		}
		if name := c.header[y]; slices.Contains(cfg.Columns, name) || cfg.Types[name] != "" && !schema.IsExcluded(cfg.Types[name]) {
			return fmt.Errorf("input.columns: %s is also the label", excerpt.Quote(name))
		}
	}
	return nil
}

// checkKnown returns an error if the header has none of the columns of the schema, so that all
// values would be missing.
func (c *csvRows) checkKnown() error {
	var want []string
	for _, a := range c.d.schema.Aliases {
		if _, ok := c.at[a.Field]; ok {
			return nil
		}
	}
	for _, f := range c.d.schema.Fields() {
		if _, ok := c.at[f.Name]; ok {
			return nil
		}
		if !f.Pair {
			want = append(want, f.Name)
		}
	}
	return fmt.Errorf("the file has no column of the model: its columns are %s, and those of the model are %s", excerpt.List(c.header), excerpt.List(want))
}

// noColumn returns the error for a declared column that is not in the header. The name may
// actually be that of a column with the suffix of a type that does not exist.
func (c *csvRows) noColumn(name string) error {
	for i := range name {
		if name[i] == ':' && slices.Contains(c.header, name[:i]) {
			if _, err := schema.ParseType(name[i+1:]); err != nil {
				return fmt.Errorf("input.columns: %s: %w", excerpt.Quote(name[:i]), err)
			}
		}
	}
	return fmt.Errorf("input.columns: there is no column %s%s; the columns are %s", excerpt.Quote(name), didYouMean(name, c.header), excerpt.List(c.header))
}

// input returns the value of the cell of column i, an input.
func (c *csvRows) input(i int, s string) value {
	if !c.d.typed() {
		return cell(s)
	}
	if csvline.IsMissing(s) {
		return value{kind: null}
	}
	switch c.types[i].Values() {
	case learner.SourceColumn:
		if !c.d.config.isWindowField(c.readAs(i), true) {
			return value{kind: text, text: view(s)}
		}
	case learner.CategoryColumn, learner.TextColumn:
		return value{kind: text, text: view(s)}
	case learner.BooleanColumn:
		if word := csvline.Boolean(s); word != "" {
			return value{kind: boolean, text: view(word)}
		}
	}
	if csvline.IsMarker(s) && c.types[i] != learner.UnknownColumn {
		return value{kind: null}
	}
	return cell(s)
}

// target returns the value of a cell of a label.
func (c *csvRows) target(s string) value {
	if !c.textLabels && c.d.typed() && (csvline.IsMissing(s) || csvline.IsMarker(s)) {
		return value{kind: null}
	}
	return c.d.labelCell(s, c.textLabels)
}
