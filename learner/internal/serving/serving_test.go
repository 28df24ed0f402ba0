package serving

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// parts returns a model before its first row, one before its first fit, one with random
// features, and one that was pruned.
func parts() map[string]Part {
	empty := Part{BlockSize: 4, Seed: 1, Head: target.NewHead(nil, target.Auto, 0, 1)}
	fresh := empty
	fresh.Dim, fresh.Head = 2, target.NewHead(nil, target.Classification, 3, 1)
	fresh.Intercept = []float64{0.1, -0.2, 0.3}
	fitted := empty
	fitted.Dim, fitted.Head = 2, target.NewHead(nil, target.Regression, 0, 1)
	fitted.Head.Scales = []target.Scale{{Mean: 3, Deviation: 2}}
	fitted.Fit = &warmup.Fit{
		Kernel: kernel.Gaussian{Scale: 1.5}, Scales: fitted.Head.Scales,
		Scaler: warmup.Scaler{Center: []float64{1, 2}, Scale: []float64{3, 4}, ColumnWeights: []float64{1, 0.5}},
	}
	fitted.Served = engine.Served{Blocks: 2, Intercept: []float64{0.5}, Coef: make([]float32, 16)}
	for i := range fitted.Coef {
		fitted.Coef[i] = float32(i) / 8
	}
	pruned := fitted
	pruned.Kept, pruned.Coef = Selection{0b10000101}, fitted.Coef[:6]
	return map[string]Part{"empty": empty, "fresh": fresh, "fitted": fitted, "pruned": pruned}
}

func saved(v Part) []state.Array {
	var a state.Arrays
	v.Save(&a)
	return a
}

// What was saved is loaded, and saved again as the same arrays.
func TestLoadReadsWhatSaveWrote(t *testing.T) {
	for name, v := range parts() {
		want := saved(v)
		s := &state.Reader{In: slices.Clone(want)}
		got := Load(s)
		if s.Err != nil || len(s.In) > 0 {
			t.Errorf("%s: %v, %d arrays left", name, s.Err, len(s.In))
			continue
		}
		if again := saved(got); !reflect.DeepEqual(again, want) {
			t.Errorf("%s: saved again %v, want %v", name, again, want)
		}
	}
}

// A pruned model predicts what the model does whose other coefficients are 0.
func TestBankOfAPrunedModelHasTheSelectedFeatures(t *testing.T) {
	all := parts()
	fitted, pruned := all["fitted"], all["pruned"]
	coef := make([]float32, len(fitted.Coef))
	for i, feature := range []int{0, 2, 7} {
		copy(coef[2*feature:2*feature+2], pruned.Coef[2*i:])
	}
	x, got, want := []float32{0.3, -0.7}, make([]float64, 1), make([]float64, 1)
	pruned.Bank(nil).Sum(got, x, pruned.Coef, 1)
	fitted.Bank(nil).Sum(want, x, coef, 1)
	if math.Abs(got[0]-want[0]) > 1e-12 || want[0] == 0 {
		t.Errorf("sum %v, want %v", got[0], want[0])
	}
}

// A State from anywhere is refused if an array is missing or has another shape.
func TestLoadRefusesDamage(t *testing.T) {
	for name, v := range parts() {
		whole := saved(v)
		for i := range whole {
			s := &state.Reader{In: slices.Delete(slices.Clone(whole), i, i+1)}
			if Load(s); s.Err == nil && len(s.In) == 0 {
				t.Errorf("%s: loaded without the array %s", name, whole[i].Name)
			}
			damaged := slices.Clone(whole)
			damaged[i].Shape[1]++
			s = &state.Reader{In: damaged}
			if Load(s); s.Err == nil && whole[i].Shape[0] > 0 {
				t.Errorf("%s: loaded with %s of shape %s", name, whole[i].Name, fmt.Sprint(damaged[i].Shape))
			}
		}
	}
	for name, change := range map[string]func(*Part){
		"a negative scale":    func(v *Part) { v.Fit.Scaler.Scale[1] = -1 },
		"a huge coefficient":  func(v *Part) { v.Coef[3] = 1e38 },
		"a bit after the end": func(v *Part) { v.BlockSize, v.Blocks, v.Kept, v.Coef = 5, 1, Selection{0b100001}, v.Coef[:4] },
		"an unknown sampling": func(v *Part) { v.Sampling = 99 },
		"missing blocks":      func(v *Part) { v.Blocks++ },
	} {
		v := parts()["fitted"]
		change(&v)
		s := &state.Reader{In: saved(v)}
		if Load(s); s.Err == nil {
			t.Errorf("%s was loaded", name)
		}
	}
}
