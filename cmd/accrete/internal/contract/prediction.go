package contract

import (
	"cmp"
	"fmt"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
)

// dialect identifies the version of JSON Schema.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// predictions is what a configuration says about the predictions of a model, together with the
// newest snapshot if that is read.
type predictions struct {
	name    string
	canary  string       // name of a second model; scorers publish its predictions; empty: none
	task    learner.Task // Auto: not known, classes or numbers
	targets int
	classes []string // nil: unknown
	taus    []float64
	fields  []string // fields of the input that predictions repeat
}

// prediction returns the schema of a prediction in JSON.
func (m *predictions) prediction() object {
	p := object{}
	switch m.task {
	case learner.Classification:
		p = m.ofClass(p)
	case learner.Regression:
		p = m.ofNumbers(p)
	case learner.Novelty:
		p = p.with("prediction", described(typed("boolean", "null"), "Whether the record is flagged; null before the first fit.")).
			with("score", typed("number")).
			with("threshold", described(typed("number"), "The score above which a record is flagged."))
	default:
		p = m.ofEither(p)
	}
	if m.task != learner.Novelty {
		p = p.with("mixture", described(object{{"enum", []string{"labels", "inputs"}}}, "Of which members of the mixture the prediction is.")).
			with("loss", described(typed("number"), "Of the prediction, if the record has a label."))
	}
	if len(m.fields) > 0 {
		fields := object{}
		for _, name := range m.fields {
			fields = fields.with(name, true)
		}
		p = p.with("input", object{{"type", []string{"object", "null"}}, {"properties", fields}, {"description", "Fields of the input record."}})
	}
	name := object{{"const", m.name}}
	if m.canary != "" {
		name = object{{"enum", []string{m.name, m.canary}}}
	}
	p = p.with("model", name).
		with("step", described(typed("integer").with("minimum", 0), "Number of mini-batches learned.")).
		with("lineage", described(typed("string").with("pattern", "^[0-9a-f]{64}$"), "SHA-256 over all labelled records that the model has learned.")).
		with("learned_to", described(typed("string").with("pattern", "^[0-9a-f]{16}$"), "Digest of the positions up to which the model has learned."))
	return object{
		{"$schema", dialect},
		{"title", "Prediction of " + m.name},
		{"type", "object"},
		{"properties", p},
		{"required", []string{"prediction", "model", "step", "lineage", "learned_to"}},
	}
}

const predicted = "Class, the most probable one unless there are costs; null before the first label."

func (m *predictions) ofClass(p object) object {
	name, label := typed("string", "null"), typed("string")
	if m.classes != nil { // examples only, because more classes may follow
		name, label = name.with("examples", m.classes), label.with("examples", m.classes)
	}
	return m.probabilities(p.with("prediction", described(name, predicted))).with("label", described(label, "Label of the record, if it has one."))
}

func (m *predictions) probabilities(p object) object {
	return p.with("probabilities", object{
		{"type", "object"}, {"description", "Probability of each class."},
		{"additionalProperties", typed("number").with("minimum", 0).with("maximum", 1)},
	}).with("probabilities_truncated", described(typed("integer").with("minimum", 1), "Number of classes omitted from probabilities."))
}

// each returns the schema of a value or, for several targets, of a list with a value for each.
func (m *predictions) each(of object) object {
	if m.targets > 1 {
		return list(of, m.targets)
	}
	return of
}

func (m *predictions) ofNumbers(p object) object {
	p = p.with("prediction", object{{"anyOf", []object{m.each(typed("number")), typed("null")}}, {"description", "Number, or a list of one for each target; null before the first label."}})
	if m.taus != nil {
		levels := object{}
		for _, tau := range m.taus {
			levels = levels.with(fmt.Sprint(tau), m.each(typed("number")))
		}
		p = p.with("quantiles", object{{"type", "object"}, {"properties", levels}, {"description", "Quantile of each level."}})
	}
	return m.around(p).with("label", described(m.each(typed("number")), "Label of the record, if it has one."))
}

// around adds the interval and the variance, which predictions of numbers may have.
func (m *predictions) around(p object) object {
	return p.with("interval", described(m.each(list(typed("number"), 2)), "Numbers between which the label is expected.")).
		with("variance", described(m.each(typed("number").with("minimum", 0)), "Of the label around the prediction."))
}

func (m *predictions) ofEither(p object) object {
	return m.around(m.probabilities(p.with("prediction", described(typed("string", "number", "null"), "Class or number, as the first label is; null before it.")))).
		with("label", described(typed("string", "number"), "Label of the record, if it has one."))
}

// headers returns the schema of the headers of a prediction.
func (m *predictions) headers(form string) object {
	text := func(description string) object { return described(typed("string"), description) }
	return object{{"type", "object"}, {"properties", object{
		{"ce_specversion", object{{"const", "1.0"}}},
		{"ce_type", object{{"const", "accrete.prediction.v1"}}},
		{"ce_source", text("/accrete/" + m.name + " for the learner, /accrete/" + m.name + "/scorer for a scorer.")},
		{"ce_id", text("topic-partition-offset of the input record, identical for all copies.")},
		{"ce_time", text("Timestamp of the input record.")},
		{"ce_sequence", text("Sequence number of the batch in the model log that contains the record. From a scorer, of models with windows only: of the last batch in the windows.")},
		{"content-type", object{{"const", contentType(form)}}},
		{"traceparent", text("As in the input record.")},
	}}, {"required", []string{"ce_specversion", "ce_type", "ce_source", "ce_id", "ce_time", "content-type"}}}
}

func contentType(form string) string { return "application/" + cmp.Or(form, record.Forms()[0]) }
