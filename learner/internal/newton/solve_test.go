package newton

import (
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// solvableModel returns a model of two numbers with trees, and members that learn from all rows of
// its window and from the last 1,024. With pairs, one of the trees is of a pair.
func solvableModel(pairs bool) *newton {
	h := target.NewHead(loss.Square{}, target.Regression, 0, 2)
	w := planted(h)
	if pairs {
		w = paired(h)
	}
	w.Options.Early, w.Options.HeldOut, w.Options.Solved = true, true, true
	w.window.setWeight(1100, 0)
	return w
}

// The gradient of the penalised loss in each coefficient and intercept of each member is 0 once it
// is solved, on the rows that the member learns from, with their weights.
func TestSolvedMembersHaveTheLeastLoss(t *testing.T) {
	for _, pairs := range []bool{false, true} {
		w := solvableModel(pairs)
		if !w.solvable() {
			t.Fatal("not solvable")
		}
		w.solveAll()
		n, k, e, size, l := w.window.rows, w.Head.Scores(), len(w.members), 2*w.Options.BlockSize, &w.forest
		phi := make([][]float32, w.bank.Blocks())
		for b := range phi {
			phi[b] = make([]float32, n*size)
			w.bank.Features(phi[b], b, w.window.x)
		}
		for m, who := range w.members {
			c := slices.Index(l.members, m)
			from, total := max(0, n-who.rows), 0.0
			for _, weight := range w.window.weights[from:] {
				total += weight
			}
			for j := range k {
				slopes := make([]float64, len(phi)*size+l.trees.Leaves()+1) // of random features, leaves, and the intercept
				leaves := slopes[len(phi)*size : len(slopes)-1]
				for i := from; i < n; i++ {
					f := w.intercept[m*k+j]
					for b := range phi {
						for q, v := range phi[b][i*size : (i+1)*size] {
							f += float64(v) * w.coef[((b*size+q)*e+m)*k+j]
						}
					}
					in := make([]int, l.trees.Trees())
					for tree := range in {
						first, _ := l.trees.Tree(tree)
						in[tree] = first + int(l.leavesOf(tree)[i])
						if c >= 0 {
							f += l.coef[(in[tree]*len(l.members)+c)*k+j]
						}
					}
					g := w.window.weights[i] / total * (f - w.window.targets[i*k+j])
					for b := range phi {
						for q, v := range phi[b][i*size : (i+1)*size] {
							slopes[b*size+q] += g * float64(v)
						}
					}
					for _, leaf := range in {
						leaves[leaf] += g
					}
					slopes[len(slopes)-1] += g
				}
				for i := range len(phi) * size {
					slopes[i] += w.penalty(m, float64(n)) * w.coef[(i*e+m)*k+j]
				}
				for tree := range l.trees.Trees() {
					first, end := l.trees.Tree(tree)
					for leaf := first; leaf < end; leaf++ {
						if c < 0 {
							leaves[leaf] = 0 // which the member does not have
							continue
						}
						penalty := w.leafPenalties(c).trees
						if tree >= w.Options.Forest {
							penalty = w.leafPenalties(c).pairs
						}
						if coef := l.coef[(leaf*len(l.members)+c)*k+j]; math.IsInf(penalty, 1) {
							if leaves[leaf] = 0; coef != 0 {
								t.Errorf("member %d: a leaf without a share has the coefficient %v", m, coef)
							}
						} else {
							leaves[leaf] += penalty * coef
						}
					}
				}
				for i, v := range slopes {
					if math.Abs(v) > 1e-4 {
						t.Fatalf("pairs: %v, member %d, target %d: the gradient in coefficient %d is %v", pairs, m, j, i, v)
					}
				}
			}
		}
	}
}

// What members have learned before does not matter once they are solved.
func TestSolutionsDependOnTheRowsAlone(t *testing.T) {
	a, b := solvableModel(false), solvableModel(false)
	clear(b.coef)
	clear(b.forest.coef)
	for _, w := range []*newton{a, b} {
		if !w.Settle() {
			t.Fatal("not settled")
		}
	}
	if !slices.Equal(a.coef, b.coef) || !slices.Equal(a.forest.coef, b.forest.coef) || !slices.Equal(a.intercept, b.intercept) {
		t.Error("the coefficients differ")
	}
	if x := a.window.x; !slices.Equal(a.Score(nil, x, a.window.rows), b.Score(nil, x, b.window.rows)) {
		t.Error("the predictions differ")
	}
}

// Other models settle with steps: from before, with another loss, with many rows, or with a label so
// far off that its residual is bounded.
func TestOtherModelsTakeSteps(t *testing.T) {
	for name, change := range map[string]func(w *newton){
		"before":       func(w *newton) { w.Options.Solved = false },
		"another loss": func(w *newton) { w.Head.Loss = loss.Absolute{} },
		"many rows":    func(w *newton) { w.window.rows = youngRows },
		"far off":      func(w *newton) { w.window.targets[3] = -1.01 * target.MaxResidual },
		"no number":    func(w *newton) { w.window.targets[3] = math.NaN() },
	} {
		w := solvableModel(false)
		if change(w); w.solvable() {
			t.Errorf("%s: solvable", name)
		}
	}
}

// A member without a row of any weight stays as it is.
func TestMembersWithoutRowsStay(t *testing.T) {
	w := solvableModel(false)
	clear(w.window.weights)
	coef, leaves, intercept := slices.Clone(w.coef), slices.Clone(w.forest.coef), slices.Clone(w.intercept)
	if w.solveAll(); !slices.Equal(coef, w.coef) || !slices.Equal(leaves, w.forest.coef) || !slices.Equal(intercept, w.intercept) {
		t.Error("a member has changed")
	}
}
