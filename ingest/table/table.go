package table

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Row is the change that a record of a table's topic makes to the row of its key.
type Row struct {
	Key string

	// Values is a JSON array of the fields, each a scalar. If it is empty, the row is deleted.
	Values string
}

// Changes holds records of one partition of a table's topic, in order.
type Changes struct {
	Table     string
	TopicID   [16]byte // distinguishes the topic from a later one with the same name
	Partition int32
	From, To  int64 // range of offsets, To exclusive
	Rejected  int64 // number of records that are not valid rows
	Rows      []Row
}

// Counts counts changes of a table since the model was created.
type Counts struct {
	Set      int64 // rows that were added or replaced
	Deleted  int64 // rows that a record without a value has deleted
	Evicted  int64 // rows that were dropped because there were too many, or they were too large
	Rejected int64 // records that are not valid rows
	Renewed  int64 // times that the topic was deleted and created again
}

// totals returns the fields of Counts in the order of a snapshot.
func (c *Counts) totals() [5]*int64 {
	return [5]*int64{&c.Set, &c.Deleted, &c.Evicted, &c.Rejected, &c.Renewed}
}

// Table holds the rows of one topic. If there are too many rows, or their total size is too large,
// the row that was set first is dropped.
type Table struct {
	config Config
	most   int64 // maximum size of the rows in a snapshot, in bytes
	topic  [16]byte
	next   []int64 // for each partition, the first offset that is not applied
	rows   map[string]*entry
	ends   entry // both ends of the list of rows, in the order in which they were set
	bytes  int64
	counts Counts
}

type entry struct {
	key, values  string
	before, next *entry
}

// entryBytes is the memory of a row without its text: an entry, and its slot in the map.
const entryBytes = 160

// maxSaved is the maximum size of the rows of a table in a snapshot, in bytes. A snapshot has at
// most 1 GiB. Replays depend on this value: it determines when rows are dropped.
const maxSaved = 512 << 20

// sizesBytes is the size of a row in a snapshot in addition to its text: the lengths of key and
// values.
const sizesBytes = 2 * 8

func newTable(c Config) *Table {
	t := &Table{config: c, most: maxSaved}
	t.clear()
	return t
}

func (t *Table) clear() {
	t.next, t.rows, t.bytes = nil, map[string]*entry{}, 0
	t.ends.before, t.ends.next = &t.ends, &t.ends
}

// Row returns the values of the row with a key, or "" if there is none.
func (t *Table) Row(key []byte) string {
	if e := t.rows[string(key)]; e != nil {
		return e.values
	}
	return ""
}

// Config returns the options of the table.
func (t *Table) Config() *Config { return &t.config }

// Next returns the id of the topic that the table was read from, and the first offset of a
// partition that is not applied: 0 for a partition that was not read yet.
func (t *Table) Next(partition int32) (topic [16]byte, next int64) {
	if int(partition) < len(t.next) {
		next = t.next[partition]
	}
	return t.topic, next
}

// check returns an error for changes that cannot come from the topic of the table.
func (t *Table) check(c *Changes) error {
	if c.Partition < 0 || c.Partition >= maxPartitions || c.From < 0 || c.To < c.From || c.Rejected < 0 {
		return fmt.Errorf("table %s: invalid range [%d, %d) of partition %d", c.Table, c.From, c.To, c.Partition)
	}
	for _, r := range c.Rows {
		if err := t.valid(r.Key, r.Values); r.Values != "" && err != nil {
			return err
		}
	}
	return nil
}

// maxPartitions bounds the partitions of a topic.
const maxPartitions = 100_000

// valid returns an error for values that are not a valid row.
func (t *Table) valid(key, values string) error {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(values), &list); err != nil || len(list) != len(t.config.Fields) {
		return fmt.Errorf("table %s: the row of %.100q has %d values, want %d", t.config.Name(), key, len(list), len(t.config.Fields))
	}
	for _, v := range list {
		if len(v) == 0 || v[0] == '{' || v[0] == '[' {
			return fmt.Errorf("table %s: a value of the row of %.100q is no scalar", t.config.Name(), key)
		}
	}
	return nil
}

// apply applies changes that check accepts.
func (t *Table) apply(c *Changes) {
	if c.TopicID != t.topic {
		if t.next != nil {
			t.counts.Renewed++
		}
		t.clear()
		t.topic = c.TopicID
	}
	if n := int(c.Partition) + 1; n > len(t.next) {
		t.next = append(t.next, make([]int64, n-len(t.next))...)
	}
	t.next[c.Partition] = c.To
	t.counts.Rejected += c.Rejected
	for _, r := range c.Rows {
		if e := t.rows[r.Key]; e != nil {
			t.drop(e)
			if r.Values == "" {
				t.counts.Deleted++
			}
		}
		if r.Values != "" {
			t.counts.Set++
			t.add(r.Key, r.Values)
		}
	}
}

func (t *Table) drop(e *entry) {
	e.before.next, e.next.before = e.next, e.before
	delete(t.rows, e.key)
	t.bytes -= e.bytes()
}

// add appends a row whose key is not in the table.
func (t *Table) add(key, values string) {
	e := &entry{key: key, values: values}
	for len(t.rows) >= t.config.Rows || len(t.rows) > 0 && t.saved()+e.saved() > t.most {
		t.counts.Evicted++
		t.drop(t.ends.next)
	}
	e.before, e.next = t.ends.before, &t.ends
	e.before.next, t.ends.before = e, e
	t.rows[key] = e
	t.bytes += e.bytes()
}

func (e *entry) text() int64 { return int64(len(e.key) + len(e.values)) }

func (e *entry) bytes() int64 { return e.text() + entryBytes }

func (e *entry) saved() int64 { return e.text() + sizesBytes }

// saved returns the bytes of all rows in a snapshot.
func (t *Table) saved() int64 { return t.bytes - int64(len(t.rows))*(entryBytes-sizesBytes) }

// Status describes the state of a table.
type Status struct {
	Name  string
	Rows  int
	Bytes int64 // of memory, approximately
	Counts
}

// clone returns a copy, which shares only strings with t.
func (t *Table) clone() *Table {
	c := newTable(t.config)
	c.most = t.most
	c.topic, c.next, c.counts = t.topic, slices.Clone(t.next), t.counts
	for e := t.ends.next; e != &t.ends; e = e.next {
		c.add(e.key, e.values)
	}
	return c
}
