package inference

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// Quantiles of two targets are answered by their levels, and as a tensor.
func TestQuantilesOverHTTP(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var records []string
	for range 200 {
		a := rng.NormFloat64()
		records = append(records, fmt.Sprintf(`{"a":%v,"y":%v,"z":%v}`, a, a+rng.NormFloat64(), 5-a))
	}
	m := fitted(t, learner.Config{Algorithm: "dsg", Loss: "quantile:0.1,0.4,0.9", Targets: 2, Intervals: 0.9}, decode.Config{Labels: []string{"y", "z"}}, records)
	c, p := newClient(t, m), want(t, m, []string{`{"a":0.5}`})
	row := p.Row(0)
	if len(row) != 6 || p.Quantiles.Central != 1 {
		t.Fatalf("%+v", p)
	}
	type object struct {
		Prediction []float64
		Quantiles  map[string][]float64
		Interval   [][]float64
	}
	v := in[object](t, c.ask("POST", "/predict", `{"a":0.5}`, 200))
	for i, tau := range []string{"0.1", "0.4", "0.9"} {
		if got := v.Quantiles[tau]; !slices.Equal(got, []float64{row[i], row[3+i]}) {
			t.Errorf("quantile %s is %v, want those of %v", tau, got, row)
		}
	}
	if !slices.Equal(v.Prediction, []float64{row[1], row[4]}) || len(v.Quantiles) != 3 {
		t.Errorf("%+v, want %v", v, row)
	}
	for j, bounds := range v.Interval {
		if low, high := p.Intervals.Bounds(v.Prediction[j], j); !slices.Equal(bounds, []float64{low, high}) {
			t.Errorf("interval %v, want %v to %v", bounds, low, high)
		}
	}
	a := in[answer](t, c.ask("POST", "/v2/models/fraud/infer", `{"inputs":[{"name":"a","datatype":"FP64","shape":[1],"data":[0.5]}]}`, 200))
	if len(a.Outputs) != 3 || a.Outputs[1].Name != "quantiles" || !slices.Equal(a.Outputs[1].Shape, []int{1, 2, 3}) || !slices.Equal(in[[]float64](t, string(a.Outputs[1].Data)), row) {
		t.Errorf("answered %+v, want %v", a, row)
	}
	type metadata struct {
		Outputs []tensorMetadata `json:"outputs"`
	}
	of := in[metadata](t, c.ask("GET", "/v2/models/fraud", "", 200))
	for i, o := range of.Outputs {
		if got := a.Outputs[i]; got.Name != o.Name || o.Shape[0] != -1 || !slices.Equal(got.Shape[1:], o.Shape[1:]) {
			t.Errorf("output %+v is described as %+v", got, o)
		}
	}
}
