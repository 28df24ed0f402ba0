package record

import (
	_ "embed"
	"encoding/binary"
	"math"

	"github.com/accrete-ml/accrete/learner"
)

// AvroSchema is the schema of predictions in Avro.
//
//go:embed schemas/prediction.avsc
var AvroSchema string

// appendAvro appends c in Avro's binary encoding, with the schema AvroSchema.
func (c *Content) appendAvro(b []byte) []byte {
	switch {
	case c.Task == learner.Classification:
		b = avroText(append(b, 1<<1), c.Class)
	case c.Task == learner.Novelty:
		b = append(b, 3<<1, 0)
		if c.Flagged {
			b[len(b)-1] = 1
		}
	case c.Task == learner.Regression && len(c.Numbers) == 1:
		b = avroDouble(append(b, 2<<1), c.Numbers[0])
	case c.Task == learner.Regression:
		b = avroDoubles(append(b, 4<<1), c.Numbers)
	default:
		b = append(b, 0)
	}
	if b = avroIs(b, len(c.Classes) > 0); len(c.Classes) > 0 {
		b = binary.AppendVarint(b, int64(len(c.Classes)))
		for i, name := range c.Classes {
			b = avroDouble(avroText(b, name), c.Probabilities[i])
		}
		b = append(b, 0)
	}
	if b = avroIs(b, c.Truncated > 0); c.Truncated > 0 {
		b = binary.AppendVarint(b, c.Truncated)
	}
	for _, v := range []float64{c.Score, c.Threshold} {
		if b = avroIs(b, c.Task == learner.Novelty); c.Task == learner.Novelty {
			b = avroDouble(b, v)
		}
	}
	if b = avroIs(b, c.Quantiles != nil); c.Quantiles != nil {
		b = binary.AppendVarint(b, int64(len(c.Quantiles)))
		for _, q := range c.Quantiles {
			b = avroDoubles(avroDouble(b, q.Level), q.Values)
		}
		b = append(b, 0)
	}
	if b = avroIs(b, c.Intervals != nil); c.Intervals != nil {
		b = binary.AppendVarint(b, int64(len(c.Intervals)))
		for _, v := range c.Intervals {
			b = avroDouble(avroDouble(b, v.Low), v.High)
		}
		b = append(b, 0)
	}
	if b = avroIs(b, c.Variances != nil); c.Variances != nil {
		b = avroDoubles(b, c.Variances)
	}
	switch {
	case c.LabelTask == learner.Classification:
		b = avroText(append(b, 1<<1), c.LabelClass)
	case c.LabelTask == learner.Regression && len(c.LabelNumbers) == 1:
		b = avroDouble(append(b, 2<<1), c.LabelNumbers[0])
	case c.LabelTask == learner.Regression:
		b = avroDoubles(append(b, 3<<1), c.LabelNumbers)
	default:
		b = append(b, 0)
	}
	return c.appendAvroEnd(b)
}

// appendAvroEnd appends the fields after the label.
func (c *Content) appendAvroEnd(b []byte) []byte {
	if b = avroIs(b, c.Mixture != ""); c.Mixture != "" {
		b = avroText(b, c.Mixture)
	}
	if b = avroIs(b, c.Graded); c.Graded {
		b = avroDouble(b, c.Loss)
	}
	if b = avroIs(b, c.Input != nil); c.Input != nil {
		b = binary.AppendVarint(b, int64(len(c.Input)))
		for _, f := range c.Input {
			b = avroText(avroText(b, f.Name), f.Value)
		}
		b = append(b, 0)
	}
	b = avroText(b, c.Model)
	b = binary.AppendVarint(b, c.Step)
	return avroText(avroText(b, c.Lineage), c.LearnedTo)
}

// avroIs appends the branch of a union of null and a type: the type if is, otherwise null.
func avroIs(b []byte, is bool) []byte {
	if is {
		return append(b, 1<<1)
	}
	return append(b, 0)
}

func avroText(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}

func avroDouble(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

// avroDoubles appends an array of numbers, which must not be empty.
func avroDoubles(b []byte, vs []float64) []byte {
	b = binary.AppendVarint(b, int64(len(vs)))
	for _, v := range vs {
		b = avroDouble(b, v)
	}
	return append(b, 0)
}
