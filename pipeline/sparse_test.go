package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// A learner of documents continues exactly after it was stopped, within a chunk of rows whose
// words wait to be learned, and verify finds its history.
func TestSparseInputsContinueExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	values := make([]string, 300)
	for i := range values {
		var line strings.Builder
		score := 0
		for range 3 + rng.IntN(12) {
			word := rng.IntN(1 + rng.IntN(5000))
			score += word%3 - 1
			fmt.Fprintf(&line, " w%d:%d", word, 1+word%2)
		}
		label := map[bool]string{true: "up", false: "down"}[score > 0]
		values[i] = label + " |" + line.String()
	}
	values[7] = "up | w1:x"
	cfg := continuesExactly(t, values, 213, func(cfg model.Config) model.Config {
		cfg.Learner = learner.Config{Sparse: 12, Mixture: true, Kernel: "gaussian:1.5", MaxFeatures: 64}
		cfg.Decode = decode.Config{Format: "vw", Sparse: true, Missing: "impute"}
		return cfg
	})
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	live := l.history.Learner
	served, err := learner.NewModel(live.Serving())
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode.New(cfg.Decode, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	var b learner.Batch
	b.Reset(served.Dim())
	for _, line := range values[20:60] {
		row, err := d.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		b.Append(row.X, learner.Label{}, 1)
		b.SetSparse(row.Sparse)
	}
	if p, q := live.Predict(&b), served.Predict(&b); !slices.Equal(p.Scorer.Values, q.Values) || slices.Max(q.Values) < 0.6 {
		t.Errorf("a scorer is said to predict %v, and predicts %v", p.Scorer.Values[:4], q.Values[:4])
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}
