package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// Passed selects what a prediction takes over from its input record. It does not influence
// what is learned, and may be changed for an existing model.
type Passed struct {
	Fields    []string // of a JSON record, as in decode.Extract; written to the member input
	TraceOnly bool     // pass only the headers traceparent and tracestate; otherwise all headers

	Redact *Redaction // applies to everything that the process writes or displays of records; nil: removes nothing
}

const (
	parent      = "traceparent" // https://www.w3.org/TR/trace-context/
	traceState  = "tracestate"
	parentBytes = 512 // a traceparent has 55 bytes, and may have more in a later version; truncated, it would be invalid

	inputMember = `,"input":`
	passedBytes = 16 << 10 // maximum for fields, and for headers; a BATCH holds up to 1,000 predictions in memory
	passedShare = 8        // they also take at most an eighth of the limit of a record
)

// passedRoom returns the maximum number of bytes for the fields that a prediction takes over
// from its input, and for the headers.
func (e *Encoder) passedRoom() int { return min(passedBytes, e.limit/passedShare) }

// fields returns the member input of a prediction, beginning with its comma. The member is null
// if it would be too large. fields returns nil if the record has none of the fields.
func (e *Encoder) fields(r *ingest.Record) []byte {
	if len(e.passes.Fields) == 0 || r == nil {
		return nil
	}
	b := decode.Extract([]byte(inputMember), r.Value, e.passes.Fields)
	if len(b) > len(inputMember) && e.passes.Redact != nil {
		clean, ok := e.passes.Redact.Value(b[len(inputMember):])
		if !ok || string(clean) == "{}" {
			return nil
		}
		b = append(b[:len(inputMember):len(inputMember)], clean...)
	}
	switch {
	case len(b) == len(inputMember):
		return nil
	case len(b) > e.passedRoom():
		return append(b[:len(inputMember)], "null"...)
	}
	return b
}

// passHeaders appends the headers of an input to those of its prediction, except for names
// that predictions use themselves. A header that does not fit is omitted entirely, because
// part of a value may mean something else. A further header then notes the omission.
func (e *Encoder) passHeaders(to, all []ingest.Header) []ingest.Header {
	var notes []ingest.Header
	omitted, traced := false, false
	room := e.passedRoom()
	for _, h := range all {
		size := len(h.Key) + len(h.Value)
		switch {
		case h.Key == parent && traced:
			continue // only the first one counts
		case h.Key == parent && len(h.Value) > parentBytes:
			traced = true
			notes = append(notes, ingest.Header{Key: truncatedParent, Value: []byte(describe(h.Value))})
			continue
		case h.Key == parent:
			traced = true
		case e.passes.TraceOnly && h.Key != traceState || own(h.Key):
			continue
		case size > room:
			omitted = true
			continue
		}
		room -= size
		h.Key, h.Value = strings.Clone(h.Key), e.own(h.Value)
		to = append(to, h)
	}
	if omitted {
		notes = append(notes, ingest.Header{Key: truncatedHeaders, Value: []byte(describeHeaders(all))})
	}
	return append(to, notes...)
}

// own reports whether predictions use headers of this name themselves.
func own(name string) bool {
	return strings.HasPrefix(name, "ce_") || strings.EqualFold(name, "content-type") || strings.HasPrefix(name, "accrete.")
}

// Own returns a prediction record converted to JSON, and without what Passed adds from the
// input. The result is the same for all forms and all values of Passed.
func Own(r ingest.Record) ingest.Record {
	r.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h ingest.Header) bool { return !own(h.Key) || h.Key == truncatedHeaders })
	ownContent(&r)
	return r
}

// withoutInput returns the value of a prediction without its member input, which is never the
// last member.
func withoutInput(v []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(v))
	if _, err := d.Token(); err != nil {
		return v
	}
	for d.More() {
		from := d.InputOffset()
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return v
		}
		if name == "input" {
			return append(bytes.Clone(v[:from]), v[d.InputOffset():]...)
		}
	}
	return v
}
