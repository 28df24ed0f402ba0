package newton

import (
	"runtime"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Scores on any number of cores are those of one row after the other, whether the candidates of
// the leaves are computed already or not.
func TestCoresDoNotMatterToLeaves(t *testing.T) {
	w := plantedTrees(target.NewHead(loss.Softmax{}, target.Classification, 4, 1), 4*treesPerTask+3)
	rows := w.window.rows / 2
	x := w.window.x[:rows*w.Dim]
	var want []float64
	for i := range rows {
		want = w.Score(want, x[i*w.Dim:(i+1)*w.Dim], 1)
	}
	if w.leafCores(1) > 1 || w.leafCores(rows) < 2 {
		t.Fatalf("a row justifies %d cores, %d rows justify %d", w.leafCores(1), rows, w.leafCores(rows))
	}
	for _, n := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(n)
		for range 3 {
			w.scratch.team = new(cores.Team) // which does not pause on a busy machine
			w.serve()
			for _, again := range []bool{false, true} {
				w.forest.scored = w.forest.scored[:0]
				if got := w.Score(nil, x, rows); !slices.Equal(got, want) {
					t.Errorf("other scores on %d cores, again %v", n, again)
				}
			}
			w.scratch.team.Rest()
		}
		runtime.GOMAXPROCS(before)
	}
}
