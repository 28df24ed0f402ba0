package newton

import (
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// A forest is judged once at each trial, and not again with a mini-batch that is larger than
// what is left of the window.
func TestAForestIsJudgedOnceATrial(t *testing.T) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	w.Options.ForestTrial, w.window.rows = true, windowRows
	for i := range w.loss {
		w.loss[i] = 100
	}
	if w.judge(windowRows); w.forest.trees == nil {
		t.Error("a forest that has passed its trials was discarded")
	}
}

// Without trees, the members that have none predict what they did, in the same bits, for new
// rows and for those of the window, and their averages and losses stay.
func TestDiscardedTreesChangeNoOtherMember(t *testing.T) {
	for _, h := range []target.Head{
		target.NewHead(loss.Square{}, target.Regression, 0, 1),
		target.NewHead(loss.Softmax{}, target.Classification, 4, 1),
	} {
		w := planted(h)
		k, n, e := h.Scores(), h.Parts(), len(w.members)
		x := w.window.x[:3*50]
		// kept returns the numbers of candidates without leaves, of rows of count groups of size.
		kept := func(v []float64, from, count, size, of int) (out []float64) {
			for i := from * size; i < len(v); i += count * size {
				for c := range of {
					if w.members[c%e].rho == 1 {
						out = append(out, v[i+c*size:i+(c+1)*size]...)
					}
				}
			}
			return out
		}
		scores := kept(w.Score(nil, x, 50), 1, 1+w.candidates(), k, w.candidates())
		window := kept(w.window.scores(e*k), 0, e, k, e)
		losses := kept(w.loss, 0, w.candidates(), n, w.candidates())
		w.discardForest()
		w.serve()
		if !slices.EqualFunc(w.members, ensemble, func(a, b member) bool { return a == b }) || w.averaged != 3 {
			t.Fatalf("%v: %d averages of the members %v", h.Loss, w.averaged, w.members)
		}
		all, columns := w.Score(nil, x, 50), w.Columns()
		var got []float64
		for i := 0; i < len(all); i += columns {
			got = append(got, all[i+k:i+columns]...)
		}
		if !slices.Equal(got, scores) {
			t.Errorf("%v: the scores have changed", h.Loss)
		}
		if !slices.Equal(w.window.scores(len(w.members)*k), window) {
			t.Errorf("%v: the scores of the window have changed", h.Loss)
		}
		if !slices.Equal(w.loss, losses) {
			t.Errorf("%v: the losses are %v, want %v", h.Loss, w.loss, losses)
		}
	}
}

// A forest pays if the best member with leaves, or its average, has less than a share of the
// loss of the best without, summed over the targets.
func TestForestPaysByTheBestMembers(t *testing.T) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	for i := range w.loss {
		w.loss[i] = 100
	}
	leaves, none := w.forest.members[1], 0
	for _, test := range []struct {
		leaves, none float64
		want         bool
	}{{98, 100, true}, {99.5, 100, false}, {98, 98, false}, {100, 100, false}, {60, 61, true}} {
		for _, at := range []int{0, len(w.members)} { // members, and averages
			w.loss[at+leaves], w.loss[at+none] = test.leaves, test.none
			if got := w.pays(w.loss, 0.99); got != test.want {
				t.Errorf("losses %v with leaves, %v without: pays is %v, want %v", test.leaves, test.none, got, test.want)
			}
			w.loss[at+leaves], w.loss[at+none] = 100, 100
		}
	}
}
