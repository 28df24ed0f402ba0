package record

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
)

// Encoder writes the predictions of one model as Kafka records: values in JSON or
// another Form, the input's key and time, and CloudEvents headers in binary mode. Its
// output depends only on its options, the model, the input record and the limit, so that
// all copies of a prediction are byte-identical. It must not be used concurrently.
type Encoder struct {
	source  ingest.Header
	limit   int      // bytes of a record
	classes [][]byte // names as JSON strings
	names   int      // total bytes of classes
	tail    []byte   // the end of every prediction of the model
	id      struct { // the model, as in tail
		name, lineage, learnedTo string
		step                     int64
	}

	form     *form // nil: JSON
	schemaID uint32
	content  ingest.Header

	passes Passed

	points []float64 // scratch: the predicted numbers of a row

	class []string         // names as they are
	rule  learner.Decision // last result of named, which refers to class

	bytes   []byte // unused memory for the records to come
	entries []ingest.Header
}

// Records share memory that is allocated in pieces of these sizes.
const (
	slabBytes   = 32 << 10
	slabHeaders = 512
)

// Passing makes predictions carry parts of their inputs.
func (e *Encoder) Passing(p Passed) *Encoder {
	e.passes = p
	return e
}

// After gives e the unused memory of before, the Encoder of the previous model, which may be
// nil.
func (e *Encoder) After(before *Encoder) *Encoder {
	if before != nil {
		e.bytes, e.entries = before.bytes, before.entries
		before.bytes, before.entries = nil, nil
	}
	return e
}

// room returns an empty slice with a capacity of n bytes. Appending more
// reallocates it.
func (e *Encoder) room(n int) []byte {
	if len(e.bytes) < n {
		e.bytes = make([]byte, max(n, slabBytes))
	}
	b := e.bytes[:0:n]
	e.bytes = e.bytes[n:]
	return b
}

// NewEncoder returns the Encoder of a model, for a topic that accepts batches of
// up to limit bytes. classes are the names of the classes by index.
func NewEncoder(id ModelID, classes []string, limit int) *Encoder {
	e := &Encoder{limit: limit, class: classes, source: ingest.Header{Key: "ce_source", Value: []byte("/accrete/" + id.Name)}}
	for _, c := range classes {
		e.classes = append(e.classes, appendString(nil, c))
		e.names += len(e.classes[len(e.classes)-1])
	}
	e.content = contentType
	e.id.name, e.id.step, e.id.lineage, e.id.learnedTo = id.Name, id.Step, hex.EncodeToString(id.Lineage[:]), LearnedTo(id.LearnedTo)
	b := appendString([]byte(`,"model":`), id.Name)
	b = strconv.AppendInt(append(b, `,"step":`...), id.Step, 10)
	b = append(append(b, `,"lineage":"`...), e.id.lineage...)
	b = append(append(b, `","learned_to":"`...), e.id.learnedTo...)
	e.tail = append(b, `"}`...)
	return e
}

// OfScorer marks the predictions as those of a scorer, and returns e. Learner and scorer may
// both predict the same record, with the same ce_id. CloudEvents requires that ce_source and
// ce_id together are unique, so the scorer has another ce_source.
func (e *Encoder) OfScorer() *Encoder {
	e.source.Value = append(slices.Clip(e.source.Value), "/scorer"...)
	return e
}

// Example is the input of one prediction.
type Example struct {
	Topic     string
	Partition int32
	Record    *ingest.Record
	Key       []byte // of the prediction
	Sequence  int64  // of the BATCH with the record; for a scorer, of the last BATCH in its windows; 0: none
	Label     learner.Label
	LabelName string            // name of the class that is the label
	Loss      float64           // of the prediction, if Graded
	Decision  learner.Decision  // the model's rule for choosing a class
	Intervals learner.Intervals // around the predicted numbers: see learner.Predictions.Uncertainty
	Quantiles learner.Quantiles // set if the predicted numbers are several quantiles of each target
	Mixture   string            // as in learner.Predictions; empty: none
	Graded    bool              // there was a label and a prediction, so Loss is set
}

// Record returns the prediction for x as a record. row is the model's prediction:
//
//   - for a classification, the probability of each class,
//   - for a regression, a number for each target, or several quantiles of it,
//   - for novelty, the score and its threshold,
//   - nothing while the model has seen no label or made no fit.
//
// If the probabilities of all classes do not fit, the record contains those of the
// likeliest classes and the number of omitted classes.
func (e *Encoder) Record(x Example, task learner.Task, row []float64) ingest.Record {
	value := e.Value(x, task, row)
	key, headers := e.headers(x)
	return ingest.Record{Time: x.Record.Time, Key: key, Value: value, Headers: headers}
}

// Members returns the members of the JSON object of a prediction, without the braces and
// without the members that describe the model. x.Record may be nil.
func (e *Encoder) Members(x Example, task learner.Task, row []float64) []byte {
	b := e.Value(x, task, row)
	return b[1 : len(b)-len(e.tail)]
}

// Value returns the value of the prediction for x. x.Record may be nil.
func (e *Encoder) Value(x Example, task learner.Task, row []float64) []byte {
	size := 192 + len(e.tail) + len(x.LabelName) + numberBytes*len(x.Label.More)
	variance := false
	var keep []bool // probabilities to write; nil: all
	passed := e.fields(x.Record)
	size += len(passed)
	switch most := min(valueBytes, e.limit/2); {
	case task == learner.Regression || task == learner.Novelty:
		size += numberBytes * len(row)
		if x.Intervals.Valid() {
			size += len(intervalMember) + 2*numberBytes*len(row)
		}
		if x.Quantiles.Valid() {
			size += len(quantilesMember) + 2*numberBytes*(len(row)+len(x.Quantiles.Taus))
		}
		if more := len(varianceMember) + numberBytes*len(row); x.Intervals.HasVariance() && size+more <= e.limit/2 {
			size, variance = size+more, true
		}
	case len(row) > 0 && size+e.names+numberBytes*len(row) > most:
		var n int
		keep, n = e.likeliest(row, most-size)
		size += n
	default:
		size += e.names + numberBytes*len(row)
	}
	if e.form != nil {
		return e.inForm(size, x, task, row, keep, variance, passed)
	}
	b := append(e.room(size), `{"prediction":`...)
	switch {
	case len(row) == 0:
		b = append(b, "null"...)
	case task == learner.Regression:
		e.points = x.Quantiles.Points(e.points[:0], row)
		b = appendNumbers(b, e.points[0], e.points[1:])
		b = appendQuantiles(b, x.Quantiles, row)
		b = appendIntervals(b, x.Intervals, e.points)
		if variance {
			b = appendVariances(b, x.Intervals, len(e.points))
		}
	case task == learner.Novelty:
		b = strconv.AppendBool(b, learner.Novel(row))
		b = strconv.AppendFloat(append(b, `,"score":`...), row[0], 'g', -1, 64)
		b = strconv.AppendFloat(append(b, `,"threshold":`...), row[1], 'g', -1, 64)
	default:
		b = append(b, e.classes[e.Class(x.Decision, row)]...)
		b = e.probabilities(b, row, keep)
	}
	switch x.Label.Task {
	case learner.Classification:
		b = appendString(append(b, `,"label":`...), x.LabelName)
	case learner.Regression:
		b = appendNumbers(append(b, `,"label":`...), x.Label.Value, x.Label.More)
	}
	if x.Mixture != "" {
		b = append(append(append(b, `,"mixture":"`...), x.Mixture...), '"')
	}
	if x.Graded {
		b = strconv.AppendFloat(append(b, `,"loss":`...), x.Loss, 'g', -1, 64)
	}
	b = append(b, passed...)
	return append(b, e.tail...)
}

// Class returns the index of the class that a rule chooses.
func (e *Encoder) Class(rule learner.Decision, row []float64) int { return e.named(rule).Class(row) }

// Costs returns the cost of a prediction for a row whose true class is class: paid with the
// class that the rule chooses, and probable with the most probable class. ok reports whether
// the rule has costs by class.
func (e *Encoder) Costs(rule learner.Decision, row []float64, class int) (paid, probable float64, ok bool) {
	if !rule.Named() {
		return 0, 0, false
	}
	rule = e.named(rule)
	return rule.Cost(class, rule.Class(row)), rule.Cost(class, learner.Best(row)), true
}

// named returns rule with its class names resolved to the classes of the model.
func (e *Encoder) named(rule learner.Decision) learner.Decision {
	if !rule.Named() {
		return rule
	}
	if !e.rule.Is(&rule) {
		e.rule = rule.Of(e.class)
	}
	return e.rule
}

const (
	numberBytes = 32       // a float64 in JSON takes up to 24 bytes, and its punctuation the rest
	valueBytes  = 64 << 10 // bounds the size of a value, because a BATCH holds up to 1,000 predictions in memory
)

const (
	probabilitiesMember = `,"probabilities":{`
	truncatedMember     = `,"probabilities_truncated":`
	intervalMember      = `,"interval":`
	varianceMember      = `,"variance":`
	quantilesMember     = `,"quantiles":{`
)
