package newton

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

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
		for _, cores := range []int{1, 2, 8} {
			before := runtime.GOMAXPROCS(cores)
			w := withRows(test.head, test.dim, 256, test.rows, test.members)
			most := 0
			for range 11 {
				w.step()
				most = max(most, w.scratch.team.Size())
			}
			w.scratch.team.Rest()
			runtime.GOMAXPROCS(before)
			if most < min(cores, 2) {
				t.Errorf("%s: steps on %d cores, not on %d", name, most, cores)
			}
			if want == nil {
				want = w
			}
			if !slices.Equal(w.coef, want.coef) || !slices.Equal(w.intercept, want.intercept) || !slices.Equal(w.window.f, want.window.f) {
				t.Errorf("%s: other bits on %d cores", name, cores)
			}
		}
	}
}
