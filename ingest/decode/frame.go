package decode

import (
	"fmt"

	"github.com/accrete-ml/accrete/ingest/decode/framing"
	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

// SchemaHeader is the header of a record that names the schema of its value. Without this header,
// the first bytes of the value name the schema.
const SchemaHeader = framing.Header

// Bounds of the schemas that a Schema remembers.
const (
	MaxWriters     = 1000
	MaxWriterBytes = 256 << 10 // of one schema
	maxWriterTotal = 4 << 20
)

// plan reads records of one schema.
type plan interface {
	Read(b []byte) ([]leaf.Leaf, error)
	Nested() bool // whether the inputs are in a list x or an object features
	List() bool   // whether the inputs are in a list x
}

// frame splits the value of a record into the part that names its schema, and the rest.
func (d *Decoder) frame(value, header []byte) (head framing.Head, body []byte, err *Error) {
	head, body, invalid := framing.Cut(value, header, d.format.indexed)
	if invalid != nil {
		err = bad("schema", "%s", invalid.Error())
	}
	return head, body, err
}

// Framed reports whether records name schemas.
func (d *Decoder) Framed() bool {
	return d.config.Framed || d.format.schemaType != "" && d.format.compile == nil
}

// Unknown returns the id of the schema that a record needs. unknown is false if the Decoder has
// the schema or needs none. header is the SchemaHeader of the record, or nil if it has none.
func (d *Decoder) Unknown(value, header []byte) (id string, unknown bool) {
	if !d.config.Framed || d.format.compile == nil || len(value) > d.config.MaxBytes {
		return "", false
	}
	head, _, err := d.frame(value, header)
	if err != nil || d.plans[string(head)].plan != nil {
		return "", false
	}
	id = head.ID()
	return id, d.writer(id) == nil
}

func (d *Decoder) writer(id string) *Writer {
	for i := range d.schema.Writers {
		if d.schema.Writers[i].ID == id {
			return &d.schema.Writers[i]
		}
	}
	return nil
}

// Learn adds a schema of the registry to the known ones. A schema that is already known stays
// unchanged. Learn reports whether there was room for the schema.
func (d *Decoder) Learn(w Writer) bool {
	if d.writer(w.ID) != nil {
		return true
	}
	total := len(w.Text)
	for _, known := range d.schema.Writers {
		total += len(known.Text)
	}
	if len(d.schema.Writers) == MaxWriters || len(w.Text) > MaxWriterBytes || total > maxWriterTotal {
		return false
	}
	s := *d.schema
	s.Writers = append(s.Writers[:len(s.Writers):len(s.Writers)], w)
	d.schema = &s
	return true
}

// planned is a plan, or the reason why there is none.
type planned struct {
	plan plan
	err  *Error
}

// body returns the plan of a record with a schema, and the bytes to read with it.
func (d *Decoder) body() (plan, []byte, *Error) {
	if !d.config.Framed {
		p := d.compiled("", func() (Writer, []int, *Error) { return Writer{Text: d.config.Reader}, nil, nil })
		return p.plan, d.scan.b, p.err
	}
	head, body, err := d.frame(d.scan.b, d.header)
	if err != nil {
		return nil, nil, err
	}
	if p, ok := d.plans[string(head)]; ok {
		return p.plan, body, p.err
	}
	id := head.ID()
	w := d.writer(id)
	if w == nil {
		return nil, nil, bad("schema", "the registry has no schema %s", id)
	}
	p := d.compiled(string(head), func() (Writer, []int, *Error) {
		if w.Type != d.format.schemaType {
			return *w, nil, bad("schema", "schema %s is of type %.20q, want %s", id, w.Type, d.format.schemaType)
		}
		return *w, head.Path(), nil
	})
	return p.plan, body, p.err
}

// checkSchema returns an error if a configuration lacks the schema that the format needs, or if
// its schema is invalid.
func (f *format) checkSchema(c Config) error {
	if f.compile == nil {
		return nil
	}
	if c.Reader == "" && !c.Framed {
		return fmt.Errorf("input.format %s needs the schema of the records: set input.registry.url, or input.schema for records without the framing of a registry", f.name)
	}
	if c.Reader == "" {
		return nil
	}
	if _, err := f.compile(c.Reader, "", nil, (&Decoder{config: c}).leafNames()); err != nil {
		return fmt.Errorf("input.schema: %w", err)
	}
	return nil
}

// maxPlans bounds the plans that are kept.
const maxPlans = 4 * MaxWriters

// compiled returns the plan for the schema that head names, from the cache if possible. of
// returns the schema and the path of a message in it.
func (d *Decoder) compiled(head string, of func() (Writer, []int, *Error)) planned {
	if p, ok := d.plans[head]; ok {
		return p
	}
	if d.plans == nil || len(d.plans) == maxPlans {
		d.plans = map[string]planned{}
	}
	var p planned
	w, path, err := of()
	if err == nil {
		reader := d.config.Reader
		if !d.config.Framed {
			reader = ""
		}
		made, failed := d.format.compile(w.Text, reader, path, d.leafNames())
		if p.plan = made; failed != nil {
			p.plan, err = nil, bad("schema", "%s", shortened(failed.Error()))
			if w.ID != "" {
				err.Reason = fmt.Sprintf("schema %s: %s", w.ID, err.Reason)
			}
		}
	}
	p.err = err
	d.plans[head] = p
	return p
}

// shortened limits the length of an error about a schema, which may quote parts of the schema.
func shortened(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%q…", s[:most-len("…")])
}

func (d *Decoder) leafNames() leaf.Names {
	c := &d.config
	return leaf.Names{
		Label: func(name string) (int, bool) {
			if d.isLabel(name) {
				return -1, true
			}
			for i, l := range c.Labels {
				if l == name {
					return i, true
				}
			}
			return 0, false
		},
		Weight: c.Weight, Key: c.Key, Depth: c.Depth, Most: c.MaxColumns,
		Whole: func(path string) bool { _, declared := c.Types[path]; return declared },
	}
}
