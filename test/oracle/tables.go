package oracle

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

// lookup is the CONFIG record's description of a table, with every default filled in. A table is a
// compacted topic; the newest record of each key is a row.
type lookup struct {
	Topic, As, Key string
	Fields         []string
	Rows           int
}

func (l *lookup) name() string { return cmp.Or(l.As, l.Topic) }

// change describes the records of one partition of a table's topic that a BATCH contains.
type change struct {
	Table     string
	TopicID   string `json:"topic_id"`
	Partition int32
	From, To  int64
	Rejected  int64
	Rows      []tableRow
}

// tableRow is a row that is set, or deleted if there are no values.
type tableRow struct {
	Key    string
	Values json.RawMessage
}

// TableCounts counts records in the topics of tables, and lookups that found a row or did not.
type TableCounts struct {
	Set, Deleted, Evicted, Rejected int64
	Found, Missing                  int64
}

// Plus returns the sums of the counts of c and o.
func (c TableCounts) Plus(o TableCounts) TableCounts {
	return TableCounts{c.Set + o.Set, c.Deleted + o.Deleted, c.Evicted + o.Evicted, c.Rejected + o.Rejected, c.Found + o.Found, c.Missing + o.Missing}
}

// rows are the rows of a table.
type rows struct {
	lookup
	topic   [16]byte
	next    []int64
	order   []string // keys in the order in which their rows were set
	values  map[string][]json.RawMessage
	texts   map[string]string // the values as they are in the log
	counts  TableCounts
	renewed int64
}

func newTables(all []lookup) (out []*rows) {
	for _, l := range all {
		t := &rows{lookup: l}
		t.clear()
		out = append(out, t)
	}
	return out
}

func (t *rows) clear() {
	t.next, t.order, t.values, t.texts = nil, nil, map[string][]json.RawMessage{}, map[string]string{}
}

func (t *rows) copy() *rows {
	c := *t
	c.next, c.order, c.values, c.texts = slices.Clone(t.next), slices.Clone(t.order), maps.Clone(t.values), maps.Clone(t.texts)
	return &c
}

// change applies the records of a table in the BATCH e, and compares them with the table's topic.
func (o *oracle) change(e entry, c change) {
	at := slices.IndexFunc(o.model.decoder.tables, func(t *rows) bool { return t.name() == c.Table })
	id, err := topicID(c.TopicID)
	if at < 0 || err != nil {
		o.fault("BATCH %d changes the table %s of the topic with id %s: %v", e.Seq, c.Table, c.TopicID, err)
		return
	}
	t := o.model.decoder.tables[at]
	if id != t.topic {
		if t.next != nil {
			t.renewed++
		}
		t.clear()
		t.topic = id
	}
	for len(t.next) <= int(c.Partition) {
		t.next = append(t.next, 0)
	}
	if next := t.next[c.Partition]; c.From != next {
		o.fault("BATCH %d has records [%d, %d) of partition %d of table %s, of which it had those up to %d", e.Seq, c.From, c.To, c.Partition, c.Table, next)
	}
	t.next[c.Partition] = c.To
	o.compareRows(e, c, t)
	t.counts.Rejected += c.Rejected
	for _, r := range c.Rows {
		t.set(r)
	}
}

func (t *rows) set(r tableRow) {
	if _, has := t.values[r.Key]; has {
		t.drop(r.Key)
		if r.Values == nil {
			t.counts.Deleted++
		}
	}
	if r.Values == nil {
		return
	}
	if len(t.order) == t.Rows {
		t.drop(t.order[0])
		t.counts.Evicted++
	}
	t.counts.Set++
	var list []json.RawMessage
	json.Unmarshal(r.Values, &list)
	t.order, t.values[r.Key], t.texts[r.Key] = append(t.order, r.Key), list, string(r.Values)
}

func (t *rows) drop(key string) {
	delete(t.values, key)
	delete(t.texts, key)
	i := slices.Index(t.order, key)
	t.order = slices.Delete(t.order, i, i+1)
}

// enrich adds the fields of table rows to the fields of a record. If the record has a field of the
// same name itself, that one counts.
func (d *decoder) enrich(f fields) (inputs []member) {
	given := len(f.inputs)
	named := func(name string, all []member) json.RawMessage {
		if i := slices.IndexFunc(all, func(m member) bool { return m.name == name }); i >= 0 {
			return all[i].raw
		}
		return nil
	}
	inputs = f.inputs
	for _, t := range d.tables {
		raw := f.key
		if t.Key != cmp.Or(d.input.Key, "key") || raw == nil {
			raw = named(t.Key, inputs)
		}
		var row []json.RawMessage
		if raw != nil {
			row = t.values[lookupKey(raw)]
		}
		if row != nil {
			t.counts.Found++
		} else {
			t.counts.Missing++
		}
		for i, field := range t.Fields {
			name, value := t.name()+"."+field, json.RawMessage("null")
			if row != nil {
				value = row[i]
			}
			if named(name, inputs[:given]) == nil {
				inputs = append(inputs, member{name, value})
			}
		}
	}
	return inputs
}

// lookupKey returns the key of the row that the value of a field refers to.
func lookupKey(raw json.RawMessage) (key string) {
	if v, isNumber := number(raw); isNumber {
		return className(string(raw), v)
	}
	json.Unmarshal(raw, &key)
	return key
}

// saved returns the arrays of tables in a snapshot.
func saved(all []*rows) (out []learner.Array) {
	for i, t := range all {
		head := []int64{int64(binary.BigEndian.Uint64(t.topic[:8])), int64(binary.BigEndian.Uint64(t.topic[8:])),
			t.counts.Set, t.counts.Deleted, t.counts.Evicted, t.counts.Rejected, t.renewed}
		sizes, text := []int64{}, []byte{}
		for _, key := range t.order {
			sizes = append(sizes, int64(len(key)), int64(len(t.texts[key])))
			text = append(text, key+t.texts[key]...)
		}
		array := func(name string, columns, n int, data any) {
			out = append(out, learner.Array{Name: fmt.Sprintf("tables.%d.%s", i, name), Shape: [2]int{n / columns, columns}, Data: data})
		}
		array("head", len(head), len(head), head)
		array("next", 1, len(t.next), append([]int64{}, t.next...))
		array("sizes", 2, len(sizes), sizes)
		array("text", 1, len(text), text)
	}
	return out
}
