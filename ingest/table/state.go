package table

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// Prefix is the prefix of the names of the arrays of Tables in a snapshot.
const Prefix = "tables."

const headFields = 2 + 5 // topic id and Counts

// State returns a copy of the state as arrays of a snapshot. Equal states have equal arrays:
// rows are in the order in which they were set.
func (t *Tables) State() (all []learner.Array) {
	if t == nil {
		return nil
	}
	for i, of := range t.All {
		head := []int64{int64(binary.BigEndian.Uint64(of.topic[:8])), int64(binary.BigEndian.Uint64(of.topic[8:]))}
		for _, n := range of.counts.totals() {
			head = append(head, *n)
		}
		sizes, text := make([]int64, 0, 2*len(of.rows)), []byte{}
		for e := of.ends.next; e != &of.ends; e = e.next {
			sizes = append(sizes, int64(len(e.key)), int64(len(e.values)))
			text = append(append(text, e.key...), e.values...)
		}
		all = append(all, array(i, "head", headFields, head), array(i, "next", 1, slices.Concat([]int64{}, of.next)), array(i, "sizes", 2, sizes), array(i, "text", 1, text))
	}
	return all
}

func array[T int64 | byte](i int, name string, columns int, data []T) learner.Array {
	return learner.Array{Name: fmt.Sprintf("%s%d.%s", Prefix, i, name), Shape: [2]int{len(data) / columns, columns}, Data: data}
}

// Split separates the arrays of a snapshot into those of Tables (own) and all others (rest).
func Split(all []learner.Array) (rest, own []learner.Array) {
	for _, a := range all {
		if strings.HasPrefix(a.Name, Prefix) {
			own = append(own, a)
		}
	}
	if own == nil {
		return all, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(a learner.Array) bool { return strings.HasPrefix(a.Name, Prefix) }), own
}

// Restore returns Tables with the state in arrays. It validates them, because they may come from
// an untrusted source.
func Restore(configs []Config, arrays []learner.Array) (*Tables, error) {
	t := New(configs)
	if t == nil && len(arrays) == 0 {
		return nil, nil
	}
	if t == nil || len(arrays) != 4*len(t.All) {
		return nil, fmt.Errorf("tables: %d arrays for %d tables", len(arrays), len(configs))
	}
	for i, of := range t.All {
		if err := of.restore(i, arrays[4*i:4*i+4]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Table) restore(i int, arrays []learner.Array) error {
	head, ok1 := data[int64](i, "head", headFields, arrays[0])
	next, ok2 := data[int64](i, "next", 1, arrays[1])
	sizes, ok3 := data[int64](i, "sizes", 2, arrays[2])
	text, ok4 := data[byte](i, "text", 1, arrays[3])
	if !ok1 || !ok2 || !ok3 || !ok4 || len(head) != headFields || len(next) > maxPartitions || len(sizes) > 2*t.config.Rows || int64(8*len(sizes)+len(text)) > t.most {
		return fmt.Errorf("tables: an array of table %d is not as expected", i)
	}
	binary.BigEndian.PutUint64(t.topic[:8], uint64(head[0]))
	binary.BigEndian.PutUint64(t.topic[8:], uint64(head[1]))
	for j, n := range t.counts.totals() {
		if *n = head[2+j]; *n < 0 {
			return fmt.Errorf("tables: a count of table %d is negative", i)
		}
	}
	if len(next) > 0 {
		t.next = slices.Clone(next)
	}
	for _, n := range next {
		if n < 0 {
			return fmt.Errorf("tables: an offset of table %d is negative", i)
		}
	}
	rest := string(text)
	for ; len(sizes) > 0; sizes = sizes[2:] {
		a, b := sizes[0], sizes[1]
		if a < 0 || b < 0 || a > int64(len(rest)) || b > int64(len(rest))-a {
			return fmt.Errorf("tables: a row of table %d has %d and %d bytes of %d", i, a, b, len(rest))
		}
		key, values := rest[:a], rest[a:a+b]
		if rest = rest[a+b:]; t.rows[key] != nil {
			return fmt.Errorf("tables: the row of %.100q comes twice", key)
		}
		if err := t.valid(key, values); err != nil {
			return err
		}
		t.add(strings.Clone(key), strings.Clone(values))
	}
	if rest != "" {
		return fmt.Errorf("tables: %d bytes without a row", len(rest))
	}
	return nil
}

func data[T int64 | byte](i int, name string, columns int, a learner.Array) ([]T, bool) {
	of, ok := a.Data.([]T)
	want := array(i, name, columns, of)
	return of, ok && a.Name == want.Name && a.Shape == want.Shape && len(of) == a.Shape[0]*columns
}
