package decode

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/libsvm"
	"github.com/accrete-ml/accrete/ingest/decode/ngram"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// projections holds the names of the columns of rows with Config.Sparse. Each input is added to
// one of them, or subtracted from it.
var projections = func() (names []string) {
	for i := range 16 {
		names = append(names, fmt.Sprintf("hash:%02d", i))
	}
	return names
}()

// checkSparse returns an error if c has options that cannot be combined with Sparse.
func (c *Config) checkSparse() error {
	text := learner.TextColumn.String()
	for _, name := range slices.Sorted(maps.Keys(c.Types)) {
		if t := c.Types[name]; t != text && !schema.IsExcluded(t) {
			return fmt.Errorf("input.columns: %s is declared as %s: with input.sparse want %s, %s or %s", excerpt.Quote(name), t, text, schema.Ignored, schema.ID)
		}
	}
	switch {
	case c.Columns != nil:
		return fmt.Errorf("input.columns and input.sparse exclude each other: every field is an input unless it is declared as %s", schema.Ignored)
	case c.Adopt:
		return fmt.Errorf("input.on_change: adopt and input.sparse exclude each other: there, every field is an input")
	case len(c.Windows) > 0:
		return fmt.Errorf("input.windows and input.sparse exclude each other")
	case c.Late != nil:
		return fmt.Errorf("input.labels and input.sparse exclude each other: labels have to come with their records")
	case c.Above != 0:
		return fmt.Errorf("input.sparse needs a kernel for inputs of any sign")
	case c.Task == learner.Novelty:
		return fmt.Errorf("input.sparse needs labels, which task novelty does not have")
	}
	return nil
}

// numbered is the memory of hashPairs.
type numbered struct {
	columns []uint32 // of the current line
	values  []float64
	hashes  []uint64 // hash of the name of each column below mostHashes; 0: not computed yet
}

// mostHashes is the number of columns whose hashes are cached, in 2 MiB.
const mostHashes = 1 << 18

// of returns the hash of the name of a column.
func (h *numbered) of(column uint32) uint64 {
	var name [10]byte
	if column >= mostHashes {
		return xxhash.Sum64(strconv.AppendUint(name[:0], uint64(column), 10))
	}
	if lacks := int(column) + 1 - len(h.hashes); lacks > 0 {
		h.hashes = append(h.hashes, make([]uint64, lacks)...)
	}
	if h.hashes[column] == 0 {
		h.hashes[column] = xxhash.Sum64(strconv.AppendUint(name[:0], uint64(column), 10))
	}
	return h.hashes[column]
}

// hashPairs is a fast path of hash for LIBSVM lines that contain only numbers. It returns false
// for a line that has to be read entry by entry.
func (d *Decoder) hashPairs(b []byte) (label []byte, ok bool) {
	if len(d.config.Types) > 0 || d.renamed != nil || d.tables != nil || !d.looks.Done() {
		return nil, false
	}
	h := &d.numbered
	if label, h.columns, h.values, ok = libsvm.Pairs(b, h.columns[:0], h.values[:0]); !ok || len(h.values) > d.config.MaxColumns {
		return nil, false
	}
	for _, v := range h.values {
		if !(math.Abs(v) <= d.config.MaxAbs) {
			return nil, false
		}
	}
	d.clearHashed()
	for i, v := range h.values {
		d.project(h.of(h.columns[i]), v)
	}
	return label, true
}

// clearHashed removes the inputs of the previous record. It sets d.x to other memory, so that the
// caller can still read inputs from its previous d.x.
func (d *Decoder) clearHashed() {
	d.hashed.Clear()
	if d.x, d.projected = d.projected[:0], d.x; cap(d.x) < len(projections) {
		d.x = make([]float64, len(projections))
	}
	d.x = d.x[:len(projections)]
	clear(d.x)
}

// hash sets d.hashed to the inputs of a record of some form, and d.x to their projections.
func (d *Decoder) hash(form kind) *Error {
	if form == settled { // hashPairs has done it
		return nil
	}
	byIndex := d.x
	d.clearHashed()
	if form == array {
		for i, v := range byIndex {
			d.pieces = strconv.AppendInt(d.pieces[:0], int64(i), 10)
			if err := d.add(d.pieces, xxhash.Sum64(d.pieces), v); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range d.list {
		if err := d.hashField(&d.list[i]); err != nil {
			return err
		}
	}
	return nil
}

// hashField adds a field. For text, each different value is a column of its own. If the field is
// declared as text, each word and each pair of words is a column instead.
func (d *Decoder) hashField(f *field) *Error {
	declared := ""
	if d.config.Types != nil {
		declared = d.config.Types[string(f.name)]
	}
	switch {
	case schema.IsExcluded(declared):
		return nil
	case f.kind == text && declared != "":
		of := xxhash.Sum64(f.name)
		ngram.Words(f.text, func(h uint64) {
			d.project(of*0x9fb21c651e98df25^h, 1)
		})
		return nil
	case f.kind == text:
		d.pieces = append(append(append(d.pieces[:0], f.name...), '='), f.text...)
		d.project(xxhash.Sum64(d.pieces), 1)
		return nil
	case f.kind == num, f.kind == instant:
		return d.add(f.name, xxhash.Sum64(f.name), f.num)
	case f.kind == boolean:
		if f.text[0] == 't' {
			d.project(xxhash.Sum64(f.name), 1)
		}
		return nil
	case f.kind == null:
		return nil
	case d.config.Unknown == "ignore":
		d.drop(1, f.name)
		return nil
	}
	return bad("columns", "%s is %v, want a number, text or a boolean", excerpt.Quote(f.name), f.value)
}

// add adds a number. A missing number counts as 0.
func (d *Decoder) add(name []byte, hash uint64, v float64) *Error {
	if math.Abs(v) > d.config.MaxAbs {
		return bad("limits", "%s is %v, out of range ±%v", excerpt.Quote(name), v, d.config.MaxAbs)
	}
	d.project(hash, v)
	return nil
}

// project adds a value to its column, and adds it to one of the projections or subtracts it.
func (d *Decoder) project(hash uint64, v float64) {
	if v == 0 || v != v {
		return
	}
	d.hashed.Append(uint32(hash), v)
	at := hash >> 32 % uint64(len(d.x))
	if hash>>63 == 1 {
		v = -v
	}
	d.x[at] += v
}
