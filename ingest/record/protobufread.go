package record

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/accrete-ml/accrete/learner"
)

// readProtobuf reads what appendProtobuf has written, its fields in any order.
func readProtobuf(b []byte) (*Content, error) {
	c := new(Content)
	if err := protoFields(b, c.readField); err != nil {
		return nil, err
	}
	return c, c.check()
}

// readField reads a field of a prediction up to the variance.
func (c *Content) readField(f protoField) error {
	var err error
	switch f.number {
	case fieldClass, fieldNumber, fieldNumbers:
		return f.outcome(fieldClass, fieldNumber, &c.Task, &c.Class, &c.Numbers)
	case fieldFlagged:
		c.Task, c.Flagged = learner.Novelty, f.varint == 1
	case fieldProbabilities:
		var name string
		var p float64
		err = protoFields(f.bytes, func(f protoField) error {
			switch f.number {
			case 1:
				name = string(f.bytes)
			case 2:
				p = f.double
			}
			return nil
		})
		c.Classes, c.Probabilities = append(c.Classes, name), append(c.Probabilities, p)
	case fieldTruncated:
		c.Truncated = int64(f.varint)
	case fieldScore:
		c.Score = f.double
	case fieldThreshold:
		c.Threshold = f.double
	case fieldQuantiles:
		var q Quantile
		q.Level, q.Values, err = protoPair(f.bytes, 1, 2)
		c.Quantiles = append(c.Quantiles, q)
	case fieldInterval:
		var v Interval
		err = protoFields(f.bytes, func(f protoField) error {
			switch f.number {
			case 1:
				v.Low = f.double
			case 2:
				v.High = f.double
			}
			return nil
		})
		c.Intervals = append(c.Intervals, v)
	case fieldVariance:
		c.Variances, err = protoPacked(f.bytes)
	default:
		return c.readLater(f)
	}
	return err
}

// readLater reads a field from the label on.
func (c *Content) readLater(f protoField) error {
	var err error
	switch f.number {
	case fieldLabelClass, fieldLabelNumber, fieldLabelNumbers:
		return f.outcome(fieldLabelClass, fieldLabelNumber, &c.LabelTask, &c.LabelClass, &c.LabelNumbers)
	case fieldMixture:
		c.Mixture = string(f.bytes)
	case fieldLoss:
		c.Loss, c.Graded = f.double, true
	case fieldInput:
		var in InputField
		err = protoFields(f.bytes, func(f protoField) error {
			switch f.number {
			case 1:
				in.Name = string(f.bytes)
			case 2:
				in.Value = string(f.bytes)
			}
			return nil
		})
		c.Input = append(c.Input, in)
	case fieldModel:
		c.Model = string(f.bytes)
	case fieldStep:
		c.Step = int64(f.varint)
	case fieldLineage:
		c.Lineage = string(f.bytes)
	case fieldLearnedTo:
		c.LearnedTo = string(f.bytes)
	}
	return err
}

// protoField is a field of a message. Of varint, double and bytes, the one that matches its
// type is set.
type protoField struct {
	number protowire.Number
	varint uint64
	double float64
	bytes  []byte
}

// protoFields calls read with each field of a message.
func protoFields(b []byte, read func(protoField) error) error {
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errContent
		}
		b = b[n:]
		f := protoField{number: number}
		switch typ {
		case protowire.VarintType:
			f.varint, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			var bits uint64
			bits, n = protowire.ConsumeFixed64(b)
			f.double = math.Float64frombits(bits)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, typ, b)
		}
		if n < 0 {
			return errContent
		}
		b = b[n:]
		if err := read(f); err != nil {
			return err
		}
	}
	return nil
}

// outcome reads a prediction or a label: a class, a number, or several numbers.
func (f protoField) outcome(class, number protowire.Number, task *learner.Task, name *string, numbers *[]float64) (err error) {
	switch f.number {
	case class:
		*task, *name = learner.Classification, string(f.bytes)
	case number:
		*task, *numbers = learner.Regression, []float64{f.double}
	default:
		*task = learner.Regression
		_, *numbers, err = protoPair(f.bytes, 0, 1)
	}
	return err
}

// protoPair reads a message with a number and a packed field of numbers.
func protoPair(b []byte, one, many protowire.Number) (v float64, vs []float64, err error) {
	err = protoFields(b, func(f protoField) error {
		var err error
		switch f.number {
		case many:
			vs, err = protoPacked(f.bytes)
		case one:
			v = f.double
		}
		return err
	})
	return v, vs, err
}

func protoPacked(b []byte) (vs []float64, err error) {
	for len(b) > 0 {
		bits, n := protowire.ConsumeFixed64(b)
		if n < 0 {
			return nil, errContent
		}
		b, vs = b[n:], append(vs, math.Float64frombits(bits))
	}
	return vs, nil
}
