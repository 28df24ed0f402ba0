package record

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/accrete-ml/accrete/learner"
)

// errContent reports bytes that are not a prediction.
var errContent = errors.New("not a prediction")

// readAvro reads what appendAvro has written.
func readAvro(b []byte) (*Content, error) {
	c, r := new(Content), avroReader{b: b}
	switch r.branch(4) {
	case 1:
		c.Task, c.Class = learner.Classification, r.text()
	case 2:
		c.Task, c.Numbers = learner.Regression, []float64{r.double()}
	case 3:
		c.Task, c.Flagged = learner.Novelty, r.byte() == 1
	case 4:
		c.Task, c.Numbers = learner.Regression, r.doubles()
	}
	if r.branch(1) == 1 {
		r.items(func() {
			c.Classes = append(c.Classes, r.text())
			c.Probabilities = append(c.Probabilities, r.double())
		})
	}
	if r.branch(1) == 1 {
		c.Truncated = r.long()
	}
	for _, v := range []*float64{&c.Score, &c.Threshold} {
		if r.branch(1) == 1 {
			*v = r.double()
		}
	}
	if r.branch(1) == 1 {
		r.items(func() { c.Quantiles = append(c.Quantiles, Quantile{r.double(), r.doubles()}) })
	}
	if r.branch(1) == 1 {
		r.items(func() { c.Intervals = append(c.Intervals, Interval{r.double(), r.double()}) })
	}
	if r.branch(1) == 1 {
		c.Variances = r.doubles()
	}
	switch r.branch(3) {
	case 1:
		c.LabelTask, c.LabelClass = learner.Classification, r.text()
	case 2:
		c.LabelTask, c.LabelNumbers = learner.Regression, []float64{r.double()}
	case 3:
		c.LabelTask, c.LabelNumbers = learner.Regression, r.doubles()
	}
	if r.branch(1) == 1 {
		c.Mixture = r.text()
	}
	if r.branch(1) == 1 {
		c.Loss, c.Graded = r.double(), true
	}
	if r.branch(1) == 1 {
		r.items(func() { c.Input = append(c.Input, InputField{r.text(), r.text()}) })
	}
	c.Model, c.Step, c.Lineage, c.LearnedTo = r.text(), r.long(), r.text(), r.text()
	if r.bad || len(r.b) > 0 {
		return nil, errContent
	}
	return c, c.check()
}

// avroReader reads values one after the other. After invalid input, bad is set and all
// further values are zero.
type avroReader struct {
	b   []byte
	bad bool
}

// take returns the next n bytes.
func (r *avroReader) take(n int64) []byte {
	if n < 0 || n > int64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *avroReader) long() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		n = len(r.b) + 1
	}
	if r.take(int64(n)); r.bad {
		return 0
	}
	return v
}

func (r *avroReader) byte() byte {
	if b := r.take(1); !r.bad {
		return b[0]
	}
	return 0
}

// branch reads the index of a union's branch, from 0 to most.
func (r *avroReader) branch(most int64) int64 {
	n := r.long()
	if n < 0 || n > most {
		r.take(-1)
		return 0
	}
	return n
}

func (r *avroReader) text() string { return string(r.take(r.long())) }

func (r *avroReader) double() float64 {
	if b := r.take(8); !r.bad {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *avroReader) doubles() (out []float64) {
	r.items(func() { out = append(out, r.double()) })
	return out
}

// items calls read for each item of an array or a map. Every item takes at least one byte, so
// the number of items is bounded by the length of the input.
func (r *avroReader) items(read func()) {
	for n := r.long(); n != 0 && !r.bad; n = r.long() {
		for ; n > 0 && !r.bad; n-- {
			read()
		}
		if n < 0 { // a block with its size in bytes, which appendAvro does not write
			r.take(-1)
		}
	}
}
