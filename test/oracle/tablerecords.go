package oracle

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// compareRows compares the rows of a table in a BATCH with the records in the topic of the table. A
// record that is missing in the BATCH must have been compacted before it was read: then a later
// record has the same key.
func (o *oracle) compareRows(e entry, c change, t *rows) {
	p := Partition{t.Topic, c.Partition}
	written, ok := o.world.Written[p]
	if !ok {
		written = o.input(p, c.TopicID)
	}
	later := o.newest(p, written)
	rest, rejected := c.Rows, c.Rejected
	for _, r := range slices.Backward(between(written, c.From, c.To)) {
		row, ok := t.row(r)
		switch n := len(rest); {
		case !ok:
			rejected--
		case n > 0 && row.Key == rest[n-1].Key && bytes.Equal(row.Values, rest[n-1].Values):
			rest = rest[:n-1]
		case later[row.Key] == r.Offset:
			o.fault("BATCH %d lacks the record at offset %d of partition %d of table %s, %q: %s", e.Seq, r.Offset, c.Partition, c.Table, row.Key, row.Values)
		}
	}
	if len(rest) > 0 || rejected > 0 {
		o.fault("BATCH %d has %d rows and %d rejected records of [%d, %d) of partition %d of table %s that nobody has written", e.Seq, len(rest), rejected, c.From, c.To, c.Partition, c.Table)
	}
}

// newest returns the offset of the newest record of each key of a partition.
func (o *oracle) newest(p Partition, all []Record) map[string]int64 {
	if o.latest[p] == nil {
		o.latest[p] = map[string]int64{}
		for _, r := range all {
			o.latest[p][string(r.Key)] = r.Offset
		}
	}
	return o.latest[p]
}

// row returns the row in a record of the topic. ok is false if the record is not a row.
func (t *rows) row(r Record) (row tableRow, ok bool) {
	if row.Key = string(r.Key); row.Key == "" {
		return row, false
	}
	if r.Value == nil {
		return row, true
	}
	top, ok := members(r.Value)
	if !ok || !readable(r.Value) {
		return row, false
	}
	var texts []string
	for _, field := range t.Fields {
		text, ok := scalar(find(top, strings.Split(field, ".")))
		if !ok {
			return row, false
		}
		texts = append(texts, text)
	}
	row.Values = json.RawMessage("[" + strings.Join(texts, ",") + "]")
	return row, true
}

// find returns the value at a path, or nil if there is none.
func find(all []member, path []string) json.RawMessage {
	for _, m := range all {
		switch inner, isObject := members(m.raw); {
		case m.name != path[0]:
		case len(path) == 1:
			return m.raw
		case isObject:
			return find(inner, path[1:])
		}
	}
	return nil
}

// scalar returns the spelling of a value in the log.
func scalar(raw json.RawMessage) (text string, ok bool) {
	switch {
	case raw == nil:
		return "null", true
	case raw[0] == '{' || raw[0] == '[':
		return "", false
	case raw[0] == '"':
		var s string
		json.Unmarshal(raw, &s)
		quoted, _ := json.Marshal(s)
		return string(quoted), true
	}
	return string(raw), true
}
