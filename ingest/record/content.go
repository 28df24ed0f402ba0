package record

import (
	"strconv"

	"github.com/accrete-ml/accrete/learner"
)

// Content is the content of a prediction's value, independent of the Form in which it is
// written. A nil slice or an empty string means that the value does not have that part.
type Content struct {
	Task    learner.Task // of the prediction; Auto: there is none
	Class   string
	Numbers []float64 // a number for each target
	Flagged bool      // for learner.Novelty

	Classes       []string // names, one for each of Probabilities
	Probabilities []float64
	Truncated     int64 // number of classes without a probability here
	Score         float64
	Threshold     float64
	Quantiles     []Quantile
	Intervals     []Interval // for each target
	Variances     []float64  // for each target

	LabelTask    learner.Task // Auto: there is none
	LabelClass   string
	LabelNumbers []float64
	Mixture      string
	Loss         float64
	Graded       bool // Loss is set
	Input        []InputField

	Model     string
	Step      int64
	Lineage   string
	LearnedTo string
}

// Quantile has the quantiles of one level, one for each target.
type Quantile struct {
	Level  float64
	Values []float64
}

// Interval holds the two numbers between which a label is expected.
type Interval struct{ Low, High float64 }

// InputField is a field of the input record. Value is the text of a string, and the JSON
// of any other value.
type InputField struct{ Name, Value string }

// AppendJSON appends c as JSON, as an Encoder without a form writes it. The one difference
// is that all fields of the input are strings.
func (c *Content) AppendJSON(b []byte) []byte {
	b = append(b, `{"prediction":`...)
	switch c.Task {
	case learner.Regression:
		b = appendNumbers(b, c.Numbers[0], c.Numbers[1:])
		b = c.appendQuantiles(b)
		b = c.appendIntervals(b)
		if c.Variances != nil {
			b = appendNumbers(append(b, varianceMember...), c.Variances[0], c.Variances[1:])
		}
	case learner.Novelty:
		b = strconv.AppendBool(b, c.Flagged)
		b = strconv.AppendFloat(append(b, `,"score":`...), c.Score, 'g', -1, 64)
		b = strconv.AppendFloat(append(b, `,"threshold":`...), c.Threshold, 'g', -1, 64)
	case learner.Classification:
		b = appendString(b, c.Class)
		for i, p := range c.Probabilities {
			if b = append(b, ','); i == 0 {
				b = append(b[:len(b)-1], probabilitiesMember...)
			}
			b = strconv.AppendFloat(append(appendString(b, c.Classes[i]), ':'), p, 'g', -1, 64)
		}
		if len(c.Probabilities) > 0 {
			b = append(b, '}')
		}
		if c.Truncated > 0 {
			b = strconv.AppendInt(append(b, truncatedMember...), c.Truncated, 10)
		}
	default:
		b = append(b, "null"...)
	}
	switch c.LabelTask {
	case learner.Classification:
		b = appendString(append(b, `,"label":`...), c.LabelClass)
	case learner.Regression:
		b = appendNumbers(append(b, `,"label":`...), c.LabelNumbers[0], c.LabelNumbers[1:])
	}
	if c.Mixture != "" {
		b = appendString(append(b, `,"mixture":`...), c.Mixture)
	}
	if c.Graded {
		b = strconv.AppendFloat(append(b, `,"loss":`...), c.Loss, 'g', -1, 64)
	}
	for i, f := range c.Input {
		if b = append(b, ','); i == 0 {
			b = append(b[:len(b)-1], inputMember+"{"...)
		}
		b = appendString(append(appendString(b, f.Name), ':'), f.Value)
	}
	if c.Input != nil {
		b = append(b, '}')
	}
	b = appendString(append(b, `,"model":`...), c.Model)
	b = strconv.AppendInt(append(b, `,"step":`...), c.Step, 10)
	b = appendString(append(b, `,"lineage":`...), c.Lineage)
	b = appendString(append(b, `,"learned_to":`...), c.LearnedTo)
	return append(b, '}')
}

func (c *Content) appendQuantiles(b []byte) []byte {
	for i, q := range c.Quantiles {
		if b = append(b, ','); i == 0 {
			b = append(b[:len(b)-1], quantilesMember...)
		}
		b = strconv.AppendFloat(append(b, '"'), q.Level, 'g', -1, 64)
		b = appendNumbers(append(b, `":`...), q.Values[0], q.Values[1:])
	}
	if c.Quantiles != nil {
		b = append(b, '}')
	}
	return b
}

func (c *Content) appendIntervals(b []byte) []byte {
	for i, v := range c.Intervals {
		if b = append(b, ','); i == 0 {
			b = append(b[:len(b)-1], intervalMember...)
			if len(c.Intervals) > 1 {
				b = append(b, '[')
			}
		}
		b = appendNumbers(b, v.Low, []float64{v.High})
	}
	if len(c.Intervals) > 1 {
		b = append(b, ']')
	}
	return b
}

// check returns an error unless AppendJSON can write c.
func (c *Content) check() error {
	switch {
	case c.Task == learner.Regression && len(c.Numbers) == 0,
		c.LabelTask == learner.Regression && len(c.LabelNumbers) == 0,
		len(c.Classes) != len(c.Probabilities):
		return errContent
	}
	for _, q := range c.Quantiles {
		if len(q.Values) == 0 {
			return errContent
		}
	}
	return nil
}
