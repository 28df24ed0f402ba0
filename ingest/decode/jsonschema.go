package decode

import (
	"unicode/utf8"
)

// jsonSchemaFormat is JSON that is preceded by the id of its schema in a registry. The producer
// has checked the record with the schema, which is not needed to read it.
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
	f, err := d.frame(d.scan.b, d.header)
	if err != nil {
		return r, err
	}
	if !utf8.Valid(f.body) {
		return r, bad("json", "it is not valid UTF-8")
	}
	d.scan.b = f.body
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
