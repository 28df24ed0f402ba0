package newton

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// TestCoresDoNotMatterToSteps that are divided among several: with one member, several, and
// some that learn from the last rows only, in a window that ends within a panel of rows and in one whose last
// rows are two parts of the ring.
func TestCoresDoNotMatterToSteps(t *testing.T) {
	softmax := func(classes int) target.Head {
		return target.NewHead(loss.Softmax{}, target.Classification, classes, 1)
	}
	for _, test := range []struct {
		head    target.Head
		dim     int
		rows    int
		members []member
	}{
		{target.NewHead(loss.Logistic{}, target.Classification, 2, 1), 20, windowRows + 1000, ensemble},
		{softmax(7), 9, 3000, ensemble},
		{softmax(26), 4, 2500, ensemble},
		{softmax(26), 4, 4100, ensemble[1:2]},
	} {
		name := fmt.Sprintf("%d classes, %d rows, %d members", test.head.Classes, test.rows, len(test.members))
		var want *newton
		for _, n := range []int{1, 2, 8} {
			before := runtime.GOMAXPROCS(n)
			w := withRows(test.head, test.dim, 256, test.rows, test.members)
			for range 11 {
				w.step()
				w.scratch.team.Rest()
				w.scratch.team = new(cores.Team) // which does not pause on a busy machine
			}
			runtime.GOMAXPROCS(before)
			if most := w.stepCores(0); most < 2 {
				t.Errorf("%s: a step is not divided: it justifies %d cores", name, most)
			}
			if want == nil {
				want = w
			}
			if !slices.Equal(w.coef, want.coef) || !slices.Equal(w.intercept, want.intercept) || !slices.Equal(w.window.f, want.window.f) {
				t.Errorf("%s: other bits on %d cores", name, n)
			}
		}
	}
}
