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

// mentioned reports whether v may have one of the fields. It returns true for any v with a
// backslash, because a name can be spelled with escapes.
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

// envelopes are members that can contain the fields of a record. One envelope can be inside
// another, as in data.features, up to mostEnvelopes.
var envelopes = []string{"input.", "data.", "features."}

const mostEnvelopes = 2

// at reports whether the field at path is redacted, whether it is hashed, and whether there may
// be redacted fields below it. The path may begin with up to in envelopes.
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

// field is at without envelopes. Everything below a redacted field is part of it. The name of a
// member can itself be a path, so several fields may match; the outermost one counts.
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

// object appends the object v with its fields removed or hashed, and reports whether it had any.
// path is the prefix of the paths of its members.
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
			break // cannot happen with valid JSON
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

// within appends a value that may have redacted fields below it, and reports whether it had any.
// A list inside a list becomes null, because no path leads into it. A string may itself contain
// an object or a list as JSON, as in predictions whose form is not JSON.
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

// hashed appends the hash of a value: of the text for a string, and of the JSON as it is spelled
// for any other value.
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
