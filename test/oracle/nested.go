package oracle

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// flatten replaces the objects and lists in members by their values, named by their
// paths.
func (d *decoder) flatten(prefix string, all []member, depth int) (out []member) {
	for _, m := range all {
		m.name = prefix + m.name
		_, declared := d.input.Types[m.name]
		holds := func(column string) bool { return strings.HasPrefix(column, m.name+".") }
		switch inner, isObject := members(m.raw); {
		case slices.Contains(d.schema.Columns, m.name) || declared:
			out = append(out, m)
		case d.input.Depth > 0 && string(m.raw) == "null" && slices.ContainsFunc(d.schema.Columns, holds):
		case depth == d.input.Depth:
			out = append(out, m)
		case isObject:
			out = append(out, d.flatten(m.name+".", inner, depth+1)...)
		case m.raw[0] == '[':
			var list []json.RawMessage
			json.Unmarshal(m.raw, &list)
			for i, raw := range list {
				inner = append(inner, member{strconv.Itoa(i), bytes.TrimSpace(raw)})
			}
			out = append(out, d.flatten(m.name+".", inner, depth+1)...)
		default:
			out = append(out, m)
		}
	}
	return out
}
