package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strings"
)

// mentioned reports whether v may have one of the fields. A name can be spelled with escapes.
func (r *Redaction) mentioned(v []byte) bool {
	if bytes.IndexByte(v, '\\') >= 0 {
		return true
	}
	for path := range r.fields {
		if bytes.Contains(v, []byte(path[strings.LastIndexByte(path, '.')+1:])) {
			return true
		}
	}
	return false
}

// envelopes are members whose fields are named like those of the record. The first and the
// second below another are one: data.features.
var envelopes = []string{"input.", "data.", "features."}

const mostEnvelopes = 2

// at returns what happens to the field at path, and whether there may be fields below it, in
// a record with at most in envelopes around each other.
func (r *Redaction) at(path string, in int) (redacted, hashed, below bool) {
	redacted, hashed, below = r.field(path)
	for _, e := range envelopes {
		if redacted || in == 0 {
			break
		}
		if path+"." == e {
			below = true
		} else if rest, inside := strings.CutPrefix(path, e); inside {
			var deeper bool
			redacted, hashed, deeper = r.at(rest, in-1)
			below = below || deeper
		}
	}
	return redacted, hashed, below
}

// field is at without envelopes. What is below a field is part of it, because the name of a
// member can be a path itself; the outermost field counts.
func (r *Redaction) field(path string) (redacted, hashed, below bool) {
	outermost := len(path) + 1
	for f, hash := range r.fields {
		switch {
		case len(f) < outermost && (f == path || strings.HasPrefix(path, f) && path[len(f)] == '.'):
			redacted, hashed, outermost = true, hash, len(f)
		case len(f) > len(path) && strings.HasPrefix(f, path) && f[len(path)] == '.':
			below = true
		}
	}
	return redacted, hashed, below
}

// object appends the object v without the fields in it, and reports whether it had any. Its
// members have this path before their names.
func (r *Redaction) object(to, v []byte, path string) (out []byte, changed bool) {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	d.Token()
	to = append(to, '{')
	begin := len(to)
	for d.More() {
		from := d.InputOffset()
		name, err := d.Token()
		s, isName := name.(string)
		until := d.InputOffset()
		var value json.RawMessage
		if err != nil || !isName || d.Decode(&value) != nil {
			break // not in valid JSON
		}
		redacted, hashed, below := r.at(path+s, mostEnvelopes)
		changed = changed || redacted
		if redacted && !hashed {
			continue
		}
		if len(to) > begin {
			to = append(to, ',')
		}
		to = append(append(to, bytes.TrimLeft(v[from:until], ", \t\r\n")...), ':')
		switch {
		case hashed:
			to = r.hashed(to, value)
		case below:
			var within bool
			to, within = r.within(to, value, path+s+".")
			changed = changed || within
		default:
			to = append(to, value...)
		}
	}
	return append(to, '}'), changed
}

// within appends a value that may have fields below it, and reports whether it had any. A list
// of lists, in which no path leads further, is null. A string may be an object or a list
// itself, as in predictions that are not JSON.
func (r *Redaction) within(to []byte, value json.RawMessage, path string) (out []byte, changed bool) {
	switch value[0] {
	case '{':
		return r.object(to, value, path)
	case '[':
		return r.list(to, value, path)
	case '"':
		var text string
		if json.Unmarshal(value, &text) != nil || text == "" || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) {
			break
		}
		if inner, changed := r.within(nil, json.RawMessage(text), path); changed {
			return appendString(to, string(inner)), true
		}
	}
	return append(to, value...), false
}

func (r *Redaction) list(to []byte, value json.RawMessage, path string) (out []byte, changed bool) {
	var all []json.RawMessage
	if json.Unmarshal(value, &all) != nil {
		return append(to, "null"...), true
	}
	to = append(to, '[')
	for i, v := range all {
		if i > 0 {
			to = append(to, ',')
		}
		within := v[0] == '['
		switch v[0] {
		case '{':
			to, within = r.object(to, v, path)
		case '[':
			to = append(to, "null"...)
		default:
			to = append(to, v...)
		}
		changed = changed || within
	}
	return append(to, ']'), changed
}

// hashed appends the hash of a value: of the text of a string, and of any other value as it
// is spelled.
func (r *Redaction) hashed(to []byte, value json.RawMessage) []byte {
	text := []byte(value)
	var s string
	if value[0] == '"' && json.Unmarshal(value, &s) == nil {
		text = []byte(s)
	}
	name, h := "sha256", hash.Hash(sha256.New())
	if len(r.key) > 0 {
		name, h = "hmac-sha256", hmac.New(sha256.New, r.key)
	}
	h.Write(text)
	return fmt.Appendf(to, `"%s:%s"`, name, hex.EncodeToString(h.Sum(nil)))
}
