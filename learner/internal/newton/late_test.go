package newton

import (
	"slices"
	"testing"
)

// TestAveragesBeginWithAFullWindow: until then models are mixed as if there were none; they begin
// as the members that remain, and then lag behind them.
func TestAveragesBeginWithAFullWindow(t *testing.T) {
	for name, of := range map[string]func(bool) (*newton, func(*newton, int)){"random features": sixClasses, "trees": withTrees} {
		t.Run(name, func(t *testing.T) {
			plain, learn := of(true)
			p := plain.Problem
			p.Options.Late = true
			w := newEngine(p)
			learn(w, windowRows/32-1)
			k, e := w.Head.Scores(), len(w.members)
			if w.averaged != 0 || w.candidates() != e || len(w.averageCoef)+len(w.forest.averageCoef) > 0 {
				t.Fatalf("before the window is full there are %d averages", w.averaged)
			}
			learn(w, 1)
			w.check(t, e)
			for c := range w.averaged {
				if !slices.Equal(groupOf(w.averageCoef, c, w.averaged, k), groupOf(w.coef, c, e, k)) {
					t.Errorf("average %d does not begin as its member", c)
				}
				if w.loss[e+c] != w.loss[c] {
					t.Errorf("the loss of average %d is %v at first, that of its member %v", c, w.loss[e+c], w.loss[c])
				}
			}
			if own := len(w.forest.members); !slices.Equal(groupOf(w.forest.averageCoef, 0, w.forest.averaged, k), groupOf(w.forest.coef, 0, own, k)) {
				t.Error("leaves: the average does not begin as its member")
			}
			learn(w, 20)
			if slices.Equal(groupOf(w.averageCoef, 0, w.averaged, k), groupOf(w.coef, 0, e, k)) {
				t.Error("the average is its member still")
			}
		})
	}
}

// check holds the sizes of averages that have begun against the numbers of members.
func (w *newton) check(t *testing.T, members int) {
	t.Helper()
	want, leaves := 0, 0
	for _, who := range w.members {
		if !who.whole() {
			continue
		}
		if want++; who.rho < 1 {
			leaves++
		}
	}
	if w.averaged != want || w.forest.averaged != leaves || w.later != 0 || len(w.members) != members {
		t.Fatalf("%d averages, %d with leaves, of %d members; want %d, %d, %d", w.averaged, w.forest.averaged, len(w.members), want, leaves, members)
	}
	if got := len(w.loss); got != w.candidates()*w.Head.Parts() {
		t.Fatalf("%d losses, want %d", got, w.candidates()*w.Head.Parts())
	}
}

// groupOf returns group c of k numbers of each of the repetitions of n groups in v.
func groupOf(v []float64, c, n, k int) (of []float64) {
	for i := c * k; i < len(v); i += n * k {
		of = append(of, v[i:i+k]...)
	}
	return of
}

// TestMembersOfManyClassesLearnFromTheWholeWindow: with a mixture, whose machines follow changes. A
// member does otherwise.
func TestMembersOfManyClassesLearnFromTheWholeWindow(t *testing.T) {
	plain, learn := sixClasses(true)
	for _, test := range []struct{ late, lean, discard, want bool }{
		{true, true, true, true}, {false, true, true, false}, {true, false, true, false}, {true, true, false, false},
	} {
		p := plain.Problem
		p.Options.Late, p.Options.Lean, p.Options.Discard = test.late, test.lean, test.discard
		w := newEngine(p)
		learn(w, 1)
		if whole := !slices.ContainsFunc(w.members, func(m member) bool { return !m.whole() }); whole != test.want {
			t.Errorf("%+v: the members are %v", test, w.members)
		}
	}
}
