package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
)

// Redaction removes fields from what is written and displayed of input records, or replaces
// them by hashes: in the member input of predictions, and of invalid records in the
// quarantine topic, the log and on the live page. It does not affect what is learned. A nil
// Redaction changes nothing. It is safe for concurrent use.
type Redaction struct {
	fields map[string]bool // by path: whether it is hashed, and otherwise removed
	key    []byte          // of the hashes; nil: none
}

// ErrRedaction is the error for fields that NewRedaction does not understand.
var ErrRedaction = errors.New("invalid redaction")

// NewRedaction returns the Redaction of fields, which are members of a record or paths such
// as customer.email, each with :hash behind it if it is to be hashed and optionally :remove
// otherwise. Hashes are SHA-256, or HMAC-SHA-256 with key unless that is empty. Without
// fields it is nil.
func NewRedaction(fields []string, key []byte) (*Redaction, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	r := &Redaction{fields: map[string]bool{}, key: key}
	for _, f := range fields {
		path, hashed := f, false
		if i := strings.LastIndexByte(f, ':'); i >= 0 {
			path, hashed = f[:i], f[i+1:] == "hash"
			if !hashed && f[i+1:] != "remove" {
				return nil, fmt.Errorf("%w: %q: want a field, optionally followed by :hash or :remove", ErrRedaction, f)
			}
		}
		if path == "" || slices.Contains(strings.Split(path, "."), "") {
			return nil, fmt.Errorf("%w: %q names no field", ErrRedaction, f)
		}
		if _, twice := r.fields[path]; twice {
			return nil, fmt.Errorf("%w: %q is there twice", ErrRedaction, path)
		}
		r.fields[path] = hashed
	}
	return r, nil
}

// Value returns a JSON object without the fields, and reports whether it was one, so that
// they could be found. Fields are also found in the members features, data and input. In
// lists they are removed from each object. The rest stays as it is spelled.
func (r *Redaction) Value(v []byte) (out []byte, ok bool) {
	if r == nil {
		return v, true
	}
	if t := bytes.TrimLeft(v, " \t\r\n"); len(t) == 0 || t[0] != '{' || !json.Valid(v) {
		return nil, false
	}
	if !r.mentioned(v) {
		return v, true
	}
	if out, changed := r.object(nil, v, ""); changed {
		return out, true
	}
	return v, true
}

// Reason returns what may be said of why a record with the value v is invalid: all of it, if
// the fields can be found in v and the reason names none of them, because a reason may quote
// the value of the field that it names.
func (r *Redaction) Reason(err error, v []byte) error {
	if r == nil {
		return err
	}
	if _, ok := r.Value(v); ok {
		text, named := err.Error(), false
		for path := range r.fields {
			for name := range strings.SplitSeq(path, ".") {
				named = named || strings.Contains(text, quotedPart(name))
			}
		}
		if !named {
			return err
		}
	}
	return bare(err, "output.redact")
}

// quotedPart returns the beginning of a name as reasons quote it, which may shorten it.
func quotedPart(name string) string {
	const most = 32 // bytes
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// Sample returns what may be shown of a value: nothing if the fields cannot be found in it.
func (r *Redaction) Sample(v []byte) []byte {
	out, _ := r.Value(v)
	return out
}

// redactedValue is the header of an invalid record without fields that it had.
const redactedValue = "accrete.redacted"

// of returns the record without the fields, and headers that say so. Without them it has
// no value but a description of it.
func (r *Redaction) of(in ingest.Record) (out ingest.Record, notes []ingest.Header) {
	if r == nil || len(in.Value) == 0 {
		return in, nil
	}
	v, ok := r.Value(in.Value)
	switch {
	case !ok:
		out = in
		out.Value = nil
		return out, []ingest.Header{{Key: truncatedValue, Value: []byte(describe(in.Value))}}
	case bytes.Equal(v, in.Value):
		return in, nil
	}
	out = in
	out.Value = v
	return out, []ingest.Header{{Key: redactedValue, Value: []byte("value")}}
}

// Prediction returns the value of a prediction without the fields of its member input.
func (r *Redaction) Prediction(v []byte) []byte {
	if r == nil || !json.Valid(v) {
		return v
	}
	var p struct {
		Input json.RawMessage `json:"input"`
	}
	if json.Unmarshal(v, &p) != nil || len(p.Input) == 0 || p.Input[0] != '{' {
		return v
	}
	clean, ok := r.Value(p.Input)
	if !ok || bytes.Equal(clean, p.Input) {
		return v
	}
	return bytes.Replace(v, append([]byte(inputMember), p.Input...), append([]byte(inputMember), clean...), 1)
}
