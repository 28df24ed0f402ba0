package record

import (
	_ "embed"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/accrete-ml/accrete/learner"
)

// ProtobufSchema is the schema of predictions in the language of Protocol Buffers.
//
//go:embed schemas/prediction.proto
var ProtobufSchema string

// The numbers of the fields in ProtobufSchema.
const (
	fieldClass protowire.Number = iota + 1
	fieldNumber
	fieldFlagged
	fieldNumbers
	fieldProbabilities
	fieldTruncated
	fieldScore
	fieldThreshold
	fieldQuantiles
	fieldInterval
	fieldVariance
	fieldLabelClass
	fieldLabelNumber
	fieldLabelNumbers
	fieldMixture
	fieldLoss
	fieldInput
	fieldModel
	fieldStep
	fieldLineage
	fieldLearnedTo
)

// appendProtobuf appends c as the message of ProtobufSchema, its fields in their order.
func (c *Content) appendProtobuf(b []byte) []byte {
	switch {
	case c.Task == learner.Classification:
		b = protoText(b, fieldClass, c.Class)
	case c.Task == learner.Novelty:
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldFlagged, protowire.VarintType), protowire.EncodeBool(c.Flagged))
	case c.Task == learner.Regression && len(c.Numbers) == 1:
		b = protoDouble(b, fieldNumber, c.Numbers[0])
	case c.Task == learner.Regression:
		b = protoMessage(b, fieldNumbers, protoDoubles(nil, 1, c.Numbers))
	}
	for i, name := range c.Classes {
		b = protowire.AppendTag(b, fieldProbabilities, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(1+protowire.SizeBytes(len(name))+9))
		b = protoDouble(protoText(b, 1, name), 2, c.Probabilities[i])
	}
	if c.Truncated > 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldTruncated, protowire.VarintType), uint64(c.Truncated))
	}
	if c.Task == learner.Novelty {
		b = protoDouble(protoDouble(b, fieldScore, c.Score), fieldThreshold, c.Threshold)
	}
	for _, q := range c.Quantiles {
		b = protoMessage(b, fieldQuantiles, protoDoubles(protoDouble(nil, 1, q.Level), 2, q.Values))
	}
	for _, v := range c.Intervals {
		b = protoMessage(b, fieldInterval, protoDouble(protoDouble(nil, 1, v.Low), 2, v.High))
	}
	if c.Variances != nil {
		b = protoDoubles(b, fieldVariance, c.Variances)
	}
	switch {
	case c.LabelTask == learner.Classification:
		b = protoText(b, fieldLabelClass, c.LabelClass)
	case c.LabelTask == learner.Regression && len(c.LabelNumbers) == 1:
		b = protoDouble(b, fieldLabelNumber, c.LabelNumbers[0])
	case c.LabelTask == learner.Regression:
		b = protoMessage(b, fieldLabelNumbers, protoDoubles(nil, 1, c.LabelNumbers))
	}
	if c.Mixture != "" {
		b = protoText(b, fieldMixture, c.Mixture)
	}
	if c.Graded {
		b = protoDouble(b, fieldLoss, c.Loss)
	}
	for _, f := range c.Input {
		b = protoMessage(b, fieldInput, protoText(protoText(nil, 1, f.Name), 2, f.Value))
	}
	b = protoText(b, fieldModel, c.Model)
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldStep, protowire.VarintType), uint64(c.Step))
	return protoText(protoText(b, fieldLineage, c.Lineage), fieldLearnedTo, c.LearnedTo)
}

func protoText(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func protoDouble(b []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(v))
}

func protoMessage(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// protoDoubles appends a packed field.
func protoDoubles(b []byte, field protowire.Number, vs []float64) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(8*len(vs)))
	for _, v := range vs {
		b = protowire.AppendFixed64(b, math.Float64bits(v))
	}
	return b
}
