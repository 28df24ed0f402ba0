package inference

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
)

// inferRequest is the body of …/infer.
type inferRequest struct {
	ID         string     `json:"id"`
	Parameters parameters `json:"parameters"`
	Inputs     []tensor   `json:"inputs"`
	Outputs    []struct {
		Name       string `json:"name"`
		Parameters struct {
			Binary *bool `json:"binary_data"`
		} `json:"parameters"`
	} `json:"outputs"`
}

// parameters are the parameters of a request. Unknown ones are ignored, as the protocol
// requires.
type parameters struct {
	Probabilities *bool  `json:"probabilities"` // false: omit the output probabilities
	Interval      *bool  `json:"interval"`      // false: omit the output interval
	Key           string `json:"key"`           // key of all rows
	Explain       bool   `json:"explain"`       // add the output explanation
	Binary        bool   `json:"binary_data_output"`
}

type inferResponse struct {
	ModelName    string            `json:"model_name"`
	ModelVersion string            `json:"model_version"`
	ID           string            `json:"id,omitempty"`
	Parameters   map[string]string `json:"parameters"`
	Outputs      []output          `json:"outputs"`
}

type output struct {
	Name       string         `json:"name"`
	Datatype   string         `json:"datatype"`
	Shape      []int          `json:"shape"`
	Data       any            `json:"data,omitempty"` // nil if it is binary
	Parameters map[string]int `json:"parameters,omitempty"`
}

// infer answers POST …/infer.
func (s *Server) infer(r *http.Request, b, rest []byte) (a result, fault *failure) {
	m, fault := s.current(r)
	if fault != nil {
		return a, fault
	}
	if _, fault := queried(r); fault != nil {
		return a, fault
	}
	var q inferRequest
	if err := json.Unmarshal(b, &q); err != nil {
		return a, bad("the body is not an inference request: %s", why(err))
	}
	if fault := q.take(rest); fault != nil {
		return a, fault
	}
	w, back, fault := s.begin(m)
	if fault != nil {
		return a, fault
	}
	defer back(w)
	if w.log, fault = s.request(r, true); fault != nil {
		return a, fault
	}
	q.Parameters.Key = cmp.Or(q.Parameters.Key, r.Header.Get(keyHeader))
	rows, fault := w.read(&q)
	if fault != nil {
		return a, fault
	}
	out, rules := w.predictions()
	if out.Size == 0 && rows > 0 && out.Task == learner.Novelty {
		return a, status(http.StatusServiceUnavailable, "the model has not learned enough rows yet: its learner needs more records")
	}
	if out.Size == 0 && rows > 0 {
		return a, status(http.StatusServiceUnavailable, "the model has seen no label yet: write labelled records to an input topic of its learner")
	}
	all := outputs(m, w.encoder, out, rules, rows)
	if q.Parameters.Explain {
		why, fault := w.explanations()
		if fault != nil {
			return a, fault
		}
		all = append(all, tensorOf("explanation", "BYTES", []int{rows}, why))
	}
	if all, fault = q.selected(all); fault != nil {
		return a, fault
	}
	packed := q.pack(all)
	about := map[string]string{"lineage": m.ID.Lineage.String(), "learned_to": record.LearnedTo(m.ID.LearnedTo), "serving": string(s.mode(r))}
	if w.log != nil {
		about["request_id"] = w.log.ID
		for i := range w.log.Rows {
			rules.Intervals = out.Uncertainty(i)
			w.log.Rows[i].Prediction = w.encoder.Value(rules, out.Task, out.Row(i))
		}
	}
	object, err := json.Marshal(inferResponse{ModelName: s.nameOf(m), ModelVersion: version(m), ID: q.ID, Outputs: all, Parameters: about})
	if err != nil {
		return a, status(http.StatusInternalServerError, "the predictions are not finite")
	}
	a = result{body: object, rows: rows, log: w.log}
	if len(packed) > 0 {
		a.json, a.body = len(object), append(object, packed...)
	}
	return a, nil
}

// why describes what is wrong with the JSON of a request, in terms of JSON instead of Go types.
func why(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	is := wrong.Value
	if number, found := strings.CutPrefix(is, "number "); found {
		is = number
	} else {
		is = map[string]string{"array": "a list", "object": "an object", "string": "text", "bool": "a boolean", "number": "a number"}[is]
	}
	want := map[reflect.Kind]string{reflect.Slice: "a list", reflect.Struct: "an object", reflect.String: "text", reflect.Bool: "a boolean", reflect.Int: "an integer"}[wrong.Type.Kind()]
	if wrong.Field == "" {
		return fmt.Sprintf("it is %s, want %s", is, want)
	}
	return fmt.Sprintf("%.100q is %s, want %s", wrong.Field, is, want)
}

// read decodes the rows of a request. Its inputs are either tensors named after the columns, or
// one tensor with all columns.
func (w *worker) read(q *inferRequest) (rows int, fault *failure) {
	var columns []string
	for _, f := range w.model.Schema.Fields() {
		if !f.Pair {
			columns = append(columns, f.Name)
		}
	}
	if len(q.Inputs) == 0 {
		return 0, bad("there are no inputs: want a tensor for each column, or one with all of them; POST /predict takes objects like those of a topic")
	}
	for i := range q.Inputs {
		if fault := q.Inputs[i].read(); fault != nil {
			return 0, fault
		}
	}
	one := &q.Inputs[0]
	rows = one.Shape[0]
	if rows > MaxRows {
		return 0, status(http.StatusRequestEntityTooLarge, "%d rows, the limit is %d", rows, MaxRows)
	}
	names, at := columns, func(i, j int) []byte { return one.values[i*len(columns)+j] }
	renamed := slices.ContainsFunc(w.model.Schema.Aliases, func(a schema.Alias) bool { return a.Field == one.Name })
	if whole := len(q.Inputs) == 1 && !slices.Contains(columns, one.Name) && !renamed; whole {
		if len(one.Shape) != 2 || one.Shape[1] != len(columns) {
			return 0, bad("input %.100q: shape %v: want [rows, %d], a column for each input of the model, or inputs named after them", one.Name, one.Shape, len(columns))
		}
	} else {
		names, at = nil, func(i, j int) []byte { return q.Inputs[j].values[i] }
		given := map[string]bool{}
		for k := range q.Inputs {
			t := &q.Inputs[k]
			switch {
			case t.Shape[0] != rows || len(t.Shape) == 2 && t.Shape[1] != 1:
				return 0, bad("input %.100q: shape %v: want [%d] or [%d, 1], as input %.100q", t.Name, t.Shape, rows, rows, one.Name)
			case given[t.Name]:
				return 0, bad("input %.100q is given twice", t.Name)
			}
			names, given[t.Name] = append(names, t.Name), true
		}
	}
	return rows, w.rows(rows, names, at, q.Parameters.Key)
}

// rows decodes n rows with the same key. names are their fields, and at(i, j) is the JSON value
// of field j of row i.
func (w *worker) rows(n int, names []string, at func(i, j int) []byte, key string) *failure {
	begin, end := `{"features":{`, "}}"
	prefix := make([][]byte, len(names))
	for j, name := range names {
		prefix[j], _ = json.Marshal(name) // text
		prefix[j] = append(prefix[j], ':')
	}
	dense := slices.Equal(names, w.model.Schema.Columns)
	for j, name := range names {
		dense = dense && name == strconv.Itoa(j)
	}
	if dense {
		begin, end = `{"x":[`, "]}"
	}
	var by []byte
	if key != "" {
		by = []byte(key)
	}
	var b []byte
	for i := range n {
		b = append(b[:0], begin...)
		for j := range names {
			if j > 0 {
				b = append(b, ',')
			}
			if !dense {
				b = append(b, prefix[j]...)
			}
			b = append(b, at(i, j)...)
		}
		b = append(b, end...)
		if err := w.add(b, by); err != nil {
			return bad("row %d: %v", i, err)
		}
	}
	return nil
}

// outputs returns the predictions for n rows as tensors.
func outputs(m *serve.Served, e *record.Encoder, p learner.Predictions, rules record.Example, n int) []output {
	if p.Task == learner.Classification {
		names := make([]string, n)
		for i := range n {
			names[i] = m.Schema.Classes[e.Class(rules.Decision, p.Row(i))]
		}
		return []output{
			tensorOf("prediction", "BYTES", []int{n}, names),
			tensorOf("probabilities", "FP64", []int{n, p.Size}, slices.Clone(p.Values)),
			tensorOf("classes", "BYTES", []int{p.Size}, slices.Clone(m.Schema.Classes[:p.Size])),
		}
	}
	if p.Task == learner.Novelty {
		novel, scores, thresholds := make([]bool, n), make([]float64, n), make([]float64, n)
		for i := range n {
			row := p.Row(i)
			novel[i], scores[i], thresholds[i] = learner.Novel(row), row[0], row[1]
		}
		return []output{tensorOf("prediction", "BOOL", []int{n}, novel), tensorOf("score", "FP64", []int{n}, scores), tensorOf("threshold", "FP64", []int{n}, thresholds)}
	}
	k := max(1, p.Size/p.Quantiles.Each())
	shape, wide := []int{n}, []int{n, 2}
	if k > 1 {
		shape, wide = []int{n, k}, []int{n, k, 2}
	}
	points := p.Quantiles.Points([]float64{}, p.Values)
	all := []output{tensorOf("prediction", "FP64", shape, points)}
	if p.Quantiles.Valid() {
		shape := append(slices.Clone(shape), p.Quantiles.Each())
		all = append(all, tensorOf("quantiles", "FP64", shape, slices.Clone(p.Values)))
	}
	if p.Intervals.Valid() {
		bounds := make([]float64, 0, 2*n*k)
		for i, v := range points {
			low, high := p.Uncertainty(i/k).Bounds(v, i%k)
			bounds = append(bounds, low, high)
		}
		all = append(all, tensorOf("interval", "FP64", wide, bounds))
	}
	if p.Intervals.HasVariance() {
		variances := make([]float64, 0, n*k)
		for i := range points {
			variances = append(variances, p.Uncertainty(i/k).Variance(i%k))
		}
		all = append(all, tensorOf("variance", "FP64", shape, variances))
	}
	return all
}

func tensorOf(name, datatype string, shape []int, data any) output {
	return output{Name: name, Datatype: datatype, Shape: shape, Data: data}
}

// selected returns the outputs of all that a request asks for.
func (q *inferRequest) selected(all []output) ([]output, *failure) {
	for _, o := range q.Outputs {
		if !slices.ContainsFunc(all, func(has output) bool { return has.Name == o.Name }) {
			names := make([]string, len(all))
			for i, has := range all {
				names[i] = has.Name
			}
			return nil, bad("unknown output %.100q: want %s", o.Name, strings.Join(names, ", "))
		}
	}
	off := func(p *bool) bool { return p != nil && !*p }
	return slices.DeleteFunc(all, func(o output) bool {
		named := len(q.Outputs) == 0 && o.Name != "classes" // classes is returned only on request, because it is the same for all rows
		for _, want := range q.Outputs {
			named = named || want.Name == o.Name
		}
		return !named || o.Name == "probabilities" && off(q.Parameters.Probabilities) || o.Name == "interval" && off(q.Parameters.Interval)
	}), nil
}
