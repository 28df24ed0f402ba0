package curves

import (
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// Curves of any kind can be drawn: no curves, a model without errors, a model
// without random features.
func TestPictureOfAnyCurves(t *testing.T) {
	for name, curves := range map[string][]Curve{
		"none":     nil,
		"empty":    {{name: "dsg"}},
		"perfect":  {{name: "dsg", points: []point{{256, 1, 64, 0}, {300, 2, 128, 0}}}},
		"no block": {{name: "dsg", points: []point{{256, 1, 0, 0.5}, {300, 2, 0, 0.5}}}},
		"bad":      {{name: "dsg", points: []point{{256, 1, 64, 40}, {300, 2, 128, 30}}}},
	} {
		path := filepath.Join(t.TempDir(), "p.png")
		if err := Draw(path, name, learner.Classification, curves); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}

// A model that starts again with fewer features leaves no line that goes back.
func TestFeaturesOfACurveGrow(t *testing.T) {
	c := Curve{points: []point{{100, 1, 64, 0.9}, {200, 2, 256, 0.8}, {300, 3, 256, 0.7}, {400, 4, 128, 0.6}, {500, 5, 512, 0.5}}}
	for _, a := range axes {
		var got []float64
		for _, p := range a.line(c, 0, 1) {
			got = append(got, p.X)
		}
		if !slices.IsSorted(got) || a.features && !slices.Equal(got, []float64{64, 128, 512}) || !a.features && len(got) != len(c.points) {
			t.Errorf("%s: %v", a.name, got)
		}
	}
}
