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

// Redaction removes fields from everything that is written or displayed of input records, or
// replaces their values by hashes. It applies to the member input of predictions, and to invalid
// records in the quarantine topic, in the log and on the live page. It does not affect what is
// learned. A nil Redaction changes nothing. A Redaction is safe for concurrent use.
type Redaction struct {
	fields map[string]bool // by path: true to hash the value, false to remove the field
	key    []byte          // of HMAC-SHA-256; empty: hashes are plain SHA-256
}

// ErrRedaction is the error for fields that NewRedaction does not understand.
var ErrRedaction = errors.New("invalid redaction")

// NewRedaction returns the Redaction of fields. A field is a member of a record or a path such
// as customer.email. The suffix :hash means that its value is replaced by a hash; without a
// suffix, or with :remove, the field is removed. Hashes are SHA-256 or, if key is not empty,
// HMAC-SHA-256 with that key. Without fields, NewRedaction returns nil.
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

// Value returns v with the fields removed or hashed. ok is false if v is not a JSON object, so
// that the fields cannot be found. Fields are also found in the members features, data and
// input, and in each object of a list. Everything else keeps its spelling.
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

// Reason returns the part of err that may be shown, where err is the reason for which a record
// with the value v is invalid. That is all of err if the fields can be found in v and err names
// none of them. Otherwise err may quote the value of such a field, and is cut by bare.
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

// quotedPart returns the beginning of a name in the way reasons quote it. They may shorten a
// long name.
func quotedPart(name string) string {
	const most = 32 // bytes
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// Sample returns what may be shown of a value: nil if the fields cannot be found in it.
func (r *Redaction) Sample(v []byte) []byte {
	out, _ := r.Value(v)
	return out
}

// redactedValue is the header of an invalid record from whose value fields were removed or
// hashed.
const redactedValue = "accrete.redacted"

// of returns the record with its fields removed or hashed, and headers that say so. If the
// fields cannot be found in the value, the record has no value, and a header describes it.
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

// Prediction returns the value of a prediction with the fields in its member input removed or
// hashed.
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
