package inference

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
)

// tensorMetadata describes a tensor. A dimension of -1 stands for any number of rows.
type tensorMetadata struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
}

// modelMetadata describes a model. Inputs lists the columns as separate tensors. A request may
// instead send all columns as one tensor.
type modelMetadata struct {
	Name     string           `json:"name"`
	Versions []string         `json:"versions"`
	Platform string           `json:"platform"`
	Inputs   []tensorMetadata `json:"inputs"`
	Outputs  []tensorMetadata `json:"outputs"`
}

// versionsShown is the maximum number of versions in the metadata of a model. Only those are
// listed that can be read from the model log within listWithin.
const (
	versionsShown = 20
	listWithin    = 2 * time.Second
)

func (s *Server) metadata(w http.ResponseWriter, r *http.Request, m *serve.Served) {
	v := modelMetadata{Name: s.nameOf(m), Versions: []string{version(m)}, Platform: "accrete", Inputs: []tensorMetadata{}}
	if s.Past != nil && v.Name == s.Name { // a canary has its current version only
		ctx, cancel := context.WithTimeout(r.Context(), listWithin)
		steps, _ := s.Past.Steps(ctx, versionsShown) // on an error, only the current version is listed
		cancel()
		for _, step := range steps {
			if text := strconv.FormatInt(step, 10); !slices.Contains(v.Versions, text) {
				v.Versions = append(v.Versions, text)
			}
		}
	}
	for _, f := range m.Schema.Fields() {
		if !f.Pair {
			v.Inputs = append(v.Inputs, tensorMetadata{f.Name, datatypeOf(f.Type), []int{-1}})
		}
	}
	task, _ := learner.ParseTask(m.Schema.Task)
	targets := max(1, len(m.Decode.Labels))
	switch {
	case task == learner.Classification:
		k := len(m.Schema.Classes)
		v.Outputs = []tensorMetadata{{"prediction", "BYTES", []int{-1}}, {"probabilities", "FP64", []int{-1, k}}, {"classes", "BYTES", []int{k}}}
	case task == learner.Novelty:
		v.Outputs = []tensorMetadata{{"prediction", "BOOL", []int{-1}}, {"score", "FP64", []int{-1}}, {"threshold", "FP64", []int{-1}}}
	case targets > 1:
		v.Outputs = []tensorMetadata{{"prediction", "FP64", []int{-1, targets}}}
	default:
		v.Outputs = []tensorMetadata{{"prediction", "FP64", []int{-1}}}
	}
	if taus := m.Taus(); taus != nil {
		shape := slices.Clone(v.Outputs[0].Shape)
		v.Outputs = append(v.Outputs, tensorMetadata{"quantiles", "FP64", append(shape, len(taus))})
	}
	given := m.Uncertainty()
	if task == learner.Regression && given.Valid() {
		shape := []int{-1, 2}
		if targets > 1 {
			shape = []int{-1, targets, 2}
		}
		v.Outputs = append(v.Outputs, tensorMetadata{"interval", "FP64", shape})
	}
	if task == learner.Regression && given.HasVariance() {
		v.Outputs = append(v.Outputs, tensorMetadata{"variance", "FP64", v.Outputs[0].Shape})
	}
	reply(w, http.StatusOK, v)
}

// datatypeOf returns the datatype for a column type. The columns that only windows read are keys and
// times.
func datatypeOf(typ string) string {
	if _, decays, _ := learner.ParseDecayed(typ); decays {
		typ = learner.CategoryColumn.String()
	}
	switch typ {
	case learner.CategoryColumn.String(), learner.TextColumn.String(), learner.TimeColumn.String(), learner.TrendColumn.String(), learner.SinceColumn.String(), learner.SourceColumn.String():
		return "BYTES"
	case learner.BooleanColumn.String():
		return "BOOL"
	}
	return "FP64"
}
