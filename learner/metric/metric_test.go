package metric

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

func example() File {
	return File{
		Columns: []string{"a", "b"}, Center: Numbers{1, -2}, Scale: Numbers{0.5, 2},
		Shared: Numbers{2, 0.6, 0.6, 1}, Own: map[string]Numbers{"k": {1, -0.5, -0.5, 3}},
	}
}

func parsed(t *testing.T, f File) (*Metric, error) {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(text)
}

// The Euclidean distance of rows to which the metric is applied is the one that the file
// defines, (x-y)ᵀM(x-y) of scaled rows, also after the metric was saved and loaded.
func TestApplyGivesTheDistanceOfTheFile(t *testing.T) {
	f := example()
	m, err := parsed(t, f)
	if err != nil {
		t.Fatal(err)
	}
	var a state.Arrays
	m.Save(&a)
	loaded := Load(&state.Reader{In: a})
	if loaded == nil || !loaded.SameFile(m) || loaded.Keys() != 1 {
		t.Fatalf("loaded: %+v", loaded)
	}
	x, y := []float64{1.5, -1}, []float64{-0.25, -3}
	for key, own := range map[string]Numbers{"": {0, 0, 0, 0}, "k": f.Own["k"], "unknown": {0, 0, 0, 0}} {
		want := 0.0
		for i := range 2 {
			for j := range 2 {
				want += (f.Shared[2*i+j] + own[2*i+j]) * (x[i] - y[i]) * f.Scale[i] * (x[j] - y[j]) * f.Scale[j]
			}
		}
		for name, m := range map[string]*Metric{"parsed": m, "loaded": loaded} {
			p, q, scratch := make([]float64, 2), make([]float64, 2), make([]float64, 2)
			m.Apply(p, scratch, x, key)
			m.Apply(q, scratch, y, key)
			if got := (p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s, key %q: squared distance %v, want %v", name, key, got, want)
			}
		}
	}
	p, at := make([]float64, 2), []float64{math.NaN(), math.NaN()}
	if m.Apply(p, make([]float64, 2), at, ""); !slices.Equal(p, []float64{0, 0}) {
		t.Errorf("a row of missing values is at %v, want the centre", p)
	}
}

func TestParseRefusesWhatIsNoMetric(t *testing.T) {
	for want, change := range map[string]func(*File){
		"columns is empty":           func(f *File) { f.Columns = nil },
		"center has 1 numbers":       func(f *File) { f.Center = f.Center[:1] },
		"scale of column \"b\"":      func(f *File) { f.Scale[1] = 0 },
		"not symmetric":              func(f *File) { f.Shared[1] = 0.7 },
		"not positive semidefinite":  func(f *File) { f.Shared = Numbers{1, 2, 2, 1} },
		"shared matrix has 3":        func(f *File) { f.Shared = f.Shared[:3] },
		"own matrix of key \"k\"":    func(f *File) { f.Own["k"] = Numbers{1} },
		"shared + own matrix of key": func(f *File) { f.Own["k"] = Numbers{-3, 0, 0, 0} },
		"all distances are 0":        func(f *File) { f.Shared, f.Own = Numbers{0, 0, 0, 0}, nil },
	} {
		f := example()
		change(&f)
		if _, err := parsed(t, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
	for _, text := range []string{`{"columns":["a"],"center":[null],"scale":[1],"shared":[1]}`, `{"extra":1}`, `{} {}`, `[]`} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

// A State from anywhere is loaded or refused, whichever array is missing.
func TestLoadRefusesAnIncompleteMetric(t *testing.T) {
	m, err := parsed(t, example())
	if err != nil {
		t.Fatal(err)
	}
	var a state.Arrays
	m.Save(&a)
	for i := 1; i < len(a); i++ {
		s := &state.Reader{In: slices.Delete(slices.Clone(a), i, i+1)}
		if got := Load(s); got != nil || s.Err == nil {
			t.Errorf("without %s: %v, %v", a[i].Name, got, s.Err)
		}
	}
	if s := (&state.Reader{}); Load(s) != nil || s.Err != nil {
		t.Errorf("a State without a metric: %v", s.Err)
	}
	var text []byte
	if text, err = m.MarshalText(); err != nil || fmt.Sprint(m) != string(text) {
		t.Fatalf("%s, %v", text, err)
	}
	known := new(Metric)
	if err := known.UnmarshalText(text); err != nil || !known.SameFile(m) || known.Whole() {
		t.Errorf("%v, whole: %v", err, known.Whole())
	}
}
