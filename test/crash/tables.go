package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/oracle"
)

// Examples are enriched with the rows of customers, which change all the time: there are more of
// them than rows are kept, some never get one, and some are deleted.
const (
	customerKeys = 600
	customerRows = 400
	strangers    = 20

	customerPartitions = 2
)

func (w *world) customers() string { return w.topic + "-customers" }

// tablesInput returns the options of the input for examples with the rows of a table.
func (w *world) tablesInput() string {
	if !w.tables {
		return ""
	}
	return fmt.Sprintf(", tables: [{topic: %s, as: customer, key: id, fields: [tier, account.score], rows: %d}]", w.customers(), customerRows)
}

// ordered returns example i, of a customer whose number is at times text and at times missing.
func ordered(x []float64, label string, i int) []byte {
	r := rand.New(rand.NewPCG(23, uint64(i)))
	v := []byte("{")
	switch id := r.IntN(customerKeys + strangers); r.IntN(10) {
	case 0:
	case 1, 2, 3:
		v = fmt.Appendf(v, `"id":"%d",`, id)
	default:
		v = fmt.Appendf(v, `"id":%d,`, id)
	}
	for j, f := range x {
		v = fmt.Appendf(v, `"x%d":%s,`, j, strconv.FormatFloat(f, 'g', 5, 64))
	}
	return fmt.Appendf(v, `"label":"%s"}`, label)
}

// row returns the change of a customer's row that precedes example i, if there is one.
func row(i int) (r ingest.Record, ok bool) {
	rng := rand.New(rand.NewPCG(29, uint64(i)))
	if i > customerKeys && rng.IntN(3) > 0 {
		return r, false
	}
	id := rng.IntN(customerKeys)
	r.Key = strconv.AppendInt(nil, int64(id), 10)
	switch u := rng.IntN(100); {
	case u < 6:
	case u < 8:
		r.Value = []byte(`{"tier":"gold","account":`)
	case u < 9:
		r.Value = []byte(`{"tier":["gold"]}`)
	case u < 10:
		r.Key, r.Value = []byte{}, []byte(`{"tier":"gold"}`) // Kafka takes no record without a key
	case u < 15:
		r.Value = []byte(`{"name":"no other field"}`)
	default:
		r.Value = fmt.Appendf(nil, `{"name":"c%d","tier":"tier <%d>","account":{"score":%.4g}}`, id, rng.IntN(4), rng.NormFloat64())
	}
	return r, true
}

// feedRows appends the changes of rows that precede examples from to to-1.
func (w *world) feedRows(ctx context.Context, from, to int) error {
	if w.rows == nil {
		w.rows = map[oracle.Partition][]oracle.Record{}
	}
	byPartition := make([][]ingest.Record, customerPartitions)
	for i := from; i < to; i++ {
		if r, ok := row(i); ok {
			r.Time = w.timeOf(i)
			p := len(r.Key) % customerPartitions
			byPartition[p] = append(byPartition[p], r)
			to := oracle.Partition{Topic: w.customers(), Index: int32(p)}
			w.rows[to] = append(w.rows[to], oracle.Record{Offset: int64(len(w.rows[to])), Time: r.Time, Key: r.Key, Value: r.Value})
		}
	}
	for p, rs := range byPartition {
		if len(rs) > 0 {
			if err := w.client.Producer().Publish(ctx, w.customers(), p, rs); err != nil {
				return err
			}
		}
	}
	return nil
}

// written has the oracle compare with all rows that were written. The topic itself is compacted;
// what it still has is at the same offsets.
func (w *world) written(in *oracle.World) error {
	if !w.tables {
		return nil
	}
	in.Written = w.rows
	kept, of := 0, 0
	for p, all := range w.rows {
		of += len(all)
		for _, r := range in.Inputs[p] {
			if r.Offset >= int64(len(all)) || !bytes.Equal(all[r.Offset].Key, r.Key) || !bytes.Equal(all[r.Offset].Value, r.Value) {
				return fmt.Errorf("%v has another record at offset %d than was written", p, r.Offset)
			}
			kept++
		}
	}
	w.options.log("the topic of the table has %d of %d records", kept, of)
	return nil
}

// checkTables returns an error if what the oracle has compared shows too little.
func checkTables(c oracle.TableCounts, examples int) error {
	if examples >= 5000 && min(c.Set, c.Deleted, c.Evicted, c.Rejected, c.Found, c.Missing) == 0 {
		return fmt.Errorf("rows of tables: %+v: none of them is wanted to be 0", c)
	}
	if c.Found+c.Missing != int64(examples) {
		return errors.New("rows were not looked up for each example")
	}
	return nil
}
