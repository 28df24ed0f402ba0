package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// Passed is what a prediction has from its input. It does not influence what is learned,
// and may change while a model exists.
type Passed struct {
	Fields    []string // of a JSON record, as in decode.Extract; they are in the member input
	TraceOnly bool     // of the headers only traceparent and tracestate; otherwise all

	Redact *Redaction // of what a process writes and displays of records; nil: nothing
}

const (
	parent      = "traceparent" // https://www.w3.org/TR/trace-context/
	traceState  = "tracestate"
	parentBytes = 512 // the header has 55 bytes, and may have more in a later version; a truncated one would be invalid

	inputMember = `,"input":`
	passedBytes = 16 << 10 // of fields, and of headers; a BATCH of 1,000 holds that many predictions in memory
	passedShare = 8        // and of the limit of a record
)

// room for what a prediction has from its input: fields, and headers.
func (e *Encoder) passedRoom() int { return min(passedBytes, e.limit/passedShare) }

// fields returns the member input of a prediction: null if it is too large, and nothing if
// the record has none of the fields.
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

// passHeaders appends the headers of an input to those of its prediction. Names that
// predictions have themselves are left out. What does not fit is omitted entirely, since a
// part of a value may mean something else, and a note says so.
func (e *Encoder) passHeaders(to, all []ingest.Header) []ingest.Header {
	var notes []ingest.Header
	omitted, traced := false, false
	room := e.passedRoom()
	for _, h := range all {
		size := len(h.Key) + len(h.Value)
		switch {
		case h.Key == parent && traced:
			continue // the first counts
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

// own reports whether predictions have headers of this name that are not from their input.
func own(name string) bool {
	return strings.HasPrefix(name, "ce_") || strings.EqualFold(name, "content-type") || strings.HasPrefix(name, "accrete.")
}

// Own returns a prediction record in JSON and without what Passed adds from the input. The
// records are equal for all forms and all values of Passed.
func Own(r ingest.Record) ingest.Record {
	r.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h ingest.Header) bool { return !own(h.Key) || h.Key == truncatedHeaders })
	ownContent(&r)
	return r
}

// withoutInput returns the value of a prediction without its member input, which is
// followed by others.
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
