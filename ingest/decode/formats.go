// Package decode turns bytes into rows for a learner: JSON values of records,
// and CSV, LIBSVM and JSON-lines files.
//
// Decoding is a pure function of the bytes, the Config and the Schema. The Schema is
// determined by the previous records, so that a replay of the same records gives the
// same rows. Only valid records extend the schema. No input makes the package panic,
// or allocate much more memory than the input's own size.
//
// # JSON
//
// A record has one of three forms:
//
//	{"x":[0.5,1.2],"y":1}                            columns "0", "1", …
//	{"features":{"age":41,"amount":12.5},"label":"ok"}  columns by name
//	{"age":41,"amount":12.5,"is_fraud":true}         every field is a column; needs Config.Label
//
// The first two forms may also have a "key" (text or a number) and a "weight". A
// record with an absent or null label is predicted only. A text or boolean label
// is the name of a class. A number is a regression target, or the name of a class
// if the task is classification.
//
// # Columns
//
// The value of a column is a number, unless Config.Types or Config.Infer says otherwise:
// text is a category or a time, a boolean is 0 or 1, and null is a missing value (with
// Config.Missing). A column without a declared type has the type of its first value; later
// values of another type are errors. A row has one float64 for each column. It is NaN for a
// missing value, 52 bits of a hash for a category (learner.Category), and the seconds since
// 1970 for a time.
//
// # Strictness
//
// Parsing is strict. Some input that encoding/json would accept or change silently is an
// error here: duplicate keys, keys in another case, null or true in place of a number,
// invalid UTF-8, half a surrogate pair, trailing bytes, and numbers out of the range of a
// float64.
package decode

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/internal/spell"
)

// format is an entry of formats.
type format struct {
	name string

	// parse reads the value of a record in Decoder.scan; nil if the format is for
	// files only. It stores inputs by name in Decoder.list, and inputs by index in
	// Decoder.x.
	parse func(*Decoder) (record, *Error)

	// looksLike reports whether a file that begins with this line, trimmed and not
	// empty, has the format. The first of formats that returns true is used.
	looksLike func(first []byte) bool

	// open reads the rows of a file; nil if the format is for records only.
	open func(*source.Limited, *Decoder) (rows, error)

	// alone is set if a row can be decoded without knowing others, so that a file is
	// read like a topic, without reading ahead.
	alone bool

	// binary is set if the values of records are not text.
	binary bool

	// compile makes the plan for a writer's schema, and a reader's schema if that is not
	// empty; path is that of a message in the schema. It is nil if the format needs no schema.
	compile    func(writer, reader string, path []int, n leaf.Names) (plan, error)
	schemaType string // type of the schema in a registry
	indexed    bool   // the framing contains the path to a message
	schema     string // schema of the examples

	// sparse is set if a record may leave out numbers that are 0.
	sparse bool

	// check returns an error if a configuration cannot apply to records of the format; nil if
	// every configuration can.
	check func(Config) error

	// examples are values of records, or whole files, each with at least one label. The
	// label has the name y, or the index 0 if names are indices. Tests range over them.
	examples []string
}

// formats are the formats of records and files, in the order in which they are
// recognised. To add one, add a file and a row.
var formats = []format{
	jsonFormat,
	avroFormat,
	protobufFormat,
	jsonSchemaFormat,
	cloudEventsFormat,
	vwFormat,
	float32Format,
	npyFormat,
	libsvmFormat,
	csvFormat,
}

// Formats returns the names of the formats of records in a topic, the default
// first.
func Formats() (names []string) {
	for _, f := range formats {
		if f.parse != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// SchemaFormats returns the names of the formats of records that have a schema.
func SchemaFormats() (names []string) {
	for _, f := range formats {
		if f.compile != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// FramedFormats returns the names of the formats of records that can name a schema of a
// registry.
func FramedFormats() (names []string) {
	for _, f := range formats {
		if f.schemaType != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// CheckNames returns an error if records of a format cannot have fields with these names.
func CheckNames(format string, names []string) error {
	f, err := recordFormat(format)
	if err != nil || f.check == nil {
		return err
	}
	c := Config{Format: format, Label: names[0]}
	if len(names) > 3 {
		c.Label, c.Labels = "", names[:len(names)-2]
	}
	return f.check(c)
}

// fileFormats returns the names of the formats of files.
func fileFormats() (names []string) {
	for _, f := range formats {
		if f.open != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// recordFormat returns the format of records with the given name; the empty name
// is the default.
func recordFormat(name string) (*format, error) {
	for i := range formats {
		if f := &formats[i]; f.parse != nil && (f.name == name || name == "") {
			return f, nil
		}
	}
	return nil, unknownFormat(name, Formats())
}

// fileFormat returns the format of files with the given name; the empty name
// recognises it by the beginning of the file, which is not blank.
func fileFormat(name string, head []byte) (*format, error) {
	first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	first = bytes.TrimSpace(first)
	for i := range formats {
		f := &formats[i]
		if f.open != nil && (f.name == name || name == "" && f.looksLike(first)) {
			return f, nil
		}
	}
	return nil, unknownFormat(name, fileFormats())
}

func unknownFormat(name string, known []string) error {
	hint := ""
	if near := spell.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return fmt.Errorf("input.format is %q: want %s%s", name, strings.Join(known, ", "), hint)
}

// jsonSchemaFormat is JSON that is preceded by the id of its schema in a registry. The schema is
// not used: it is needed only for validation, which is the task of the producer.
var jsonSchemaFormat = format{
	name:       "json-schema",
	parse:      (*Decoder).parseJSONSchema,
	binary:     true,
	schemaType: "JSON",
	examples: []string{
		"\x00\x00\x00\x00\x07" + `{"age":41,"amount":12.5,"y":"ok"}`,
		"\x00\x00\x01\x00\x00" + `{"features":{"age":41,"amount":1e3},"y":"fraud","weight":2}`,
	},
}

func (d *Decoder) parseJSONSchema() (r record, err *Error) {
	_, body, err := d.frame(d.scan.b, d.header)
	if err != nil {
		return r, err
	}
	if !utf8.Valid(body) {
		return r, bad("json", "it is not valid UTF-8")
	}
	d.scan.b = body
	return d.parseJSON()
}

// cloudEventsFormat is JSON in the member data of an event in structured mode
// (CloudEvents 1.0, JSON event format).
var cloudEventsFormat = format{
	name:  "cloudevents",
	parse: (*Decoder).parseCloudEvent,
	examples: []string{
		`{"specversion":"1.0","id":"1","type":"payment","source":"/shop","data":{"age":41,"amount":12.5,"y":"ok"}}`,
		`{"data":{"features":{"age":41,"amount":1e3},"y":"fraud","key":"k"},"specversion":"1.0","id":"2","type":"payment","source":"/shop"}`,
	},
}

func (d *Decoder) parseCloudEvent() (r record, err *Error) {
	version, from, to := value{}, 0, 0
	s := &d.scan
	whole := s.b
	err = s.members(func(key []byte) *Error {
		switch string(key) {
		case "specversion":
			return s.take(&version, key, "version")
		case "data":
			if to > 0 {
				return bad("cloudevents", "duplicate field data")
			}
			s.space()
			from = s.i
			err := s.skip()
			to = s.i
			return err
		}
		return s.skip()
	})
	switch {
	case err != nil:
		return r, err
	case s.peek() != 0 || s.i < len(s.b):
		return r, bad("cloudevents", "%d bytes after the end", len(s.b)-s.i)
	case version.kind != text || len(version.text) < 2 || string(version.text[:2]) != "1.":
		return r, bad("cloudevents", "specversion is %v, want 1.0", version)
	case to == 0:
		return r, bad("cloudevents", "the event has no data")
	}
	*s = scanner{b: whole[from:to], buf: s.buf}
	return d.parseJSON()
}
