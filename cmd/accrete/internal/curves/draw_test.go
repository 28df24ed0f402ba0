package curves

import (
	"image/png"
	"os"
	"path/filepath"
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
