package newton

import (
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// heads are those that trees are grown again for.
var heads = []target.Head{
	target.NewHead(loss.Square{}, target.Regression, 0, 1),
	target.NewHead(loss.Logistic{}, target.Classification, 2, 1),
	target.NewHead(loss.Softmax{}, target.Classification, 4, 1),
}

// Trees that are replaced leave no trace in the scores that are stored: they are those of the
// members with the new trees, and so are the averages. The members without leaves stay as they
// are, and trees from the same rows do not increase the penalised loss by more than a few percent.
func TestReplacedTreesLeaveNoJump(t *testing.T) {
	for _, h := range heads {
		w := planted(h)
		k, e := h.Scores(), len(w.members)
		var before []float64
		for c := range w.forest.members {
			before = append(before, w.objective(c))
		}
		old, f := w.forest.trees, w.window.scores(e*k)
		if !w.shares() {
			t.Fatal("no rows")
		}
		s := w.rest()
		s.Thresholds = regrowthThresholds
		w.replace(forest.Join(forest.Grow(w.sample(), 3, 7), forest.Grow(s, 2, 8)))
		w.serve()
		if w.forest.trees == old || w.forest.trees.Trees() != 5 {
			t.Fatalf("%v: %d trees, the old ones: %v", h.Loss, w.forest.trees.Trees(), w.forest.trees == old)
		}
		for c, was := range before {
			if now := w.objective(c); now > 1.05*was {
				t.Errorf("%v: new trees take member %d from %v to %v", h.Loss, c, was, now)
			}
		}
		columns := w.Columns()
		scores := w.Score(nil, w.window.x, w.window.rows)
		for i, got := range w.window.scores(e * k) {
			row, at := i/(e*k), i%(e*k)
			if want := scores[row*columns+k+at]; math.Abs(got-want) > 1e-4 {
				t.Fatalf("%v, row %d: the stored score %d is %v, that of the members %v", h.Loss, row, at, got, want)
			}
			if m := at / k; w.members[m].rho == 1 && got != f[i] {
				t.Fatalf("%v, row %d: member %d without leaves has changed", h.Loss, row, m)
			}
		}
		// The averages are the members: members and averages without leaves are as many.
		for m := range w.averaged {
			for i := 0; i < len(scores); i += columns {
				member, average := scores[i+(1+m)*k:i+(2+m)*k], scores[i+(1+e+m)*k:i+(2+e+m)*k]
				if w.members[m].rho < 1 && !slices.Equal(member, average) {
					t.Fatalf("%v, row %d: the average of member %d predicts %v, the member %v", h.Loss, i/columns, m, average, member)
				}
			}
		}
	}
}

// Trees that grow again are judged by the losses since they grew last, at the rows of regrowths
// and nowhere else, or at those of lateRegrowths or earlyRegrowths; they are replaced at some of
// these, if no pairs have trees.
func TestTreesAreJudgedSinceTheyGrew(t *testing.T) {
	for o, all := range map[engine.Options][]regrowth{{}: regrowths, {Late: true}: lateRegrowths, {Late: true, Early: true}: earlyRegrowths} {
		for _, r := range all {
			for _, test := range []judgement{
				{"pay", 0.999, r.rows - 32, r.rows, 0, r.again, true},
				{"do not pay", 1.001, r.rows - 32, r.rows, 0, false, false},
				{"too early", 1.001, r.rows - 33, r.rows - 1, 0, false, true},
				{"before", 1.001, r.rows, r.rows + 32, 0, false, true},
				{"pairs", 1.001, r.rows - 32, r.rows, 1, false, true},
			} {
				test.hold(t, r, o)
			}
		}
	}
}

// judgement is what becomes of trees whose members' losses since they grew are a share of the limit
// of a regrowth, with a mini-batch that brings the window from some rows to others.
type judgement struct {
	name         string
	share        float64
	before, rows int
	pairs        int
	grows, stays bool
}

// hold holds trees against it.
func (test judgement) hold(t *testing.T, r regrowth, o engine.Options) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	w.Options.ForestTrial, w.Options.ForestRegrow, w.Options.Late, w.Options.Early = true, true, o.Late, o.Early
	w.judgeFromHere()
	w.forest.pairs = test.pairs
	for c := range w.candidates() {
		w.loss[c], w.forest.since[c] = 100, 100
		if w.members[c%len(w.members)].rho < 1 {
			w.loss[c], w.forest.since[c] = 100*(2-test.share), 100*r.share*test.share
		}
	}
	old := w.forest.trees
	w.regrow(test.before, test.rows)
	if stays := w.forest.trees != nil; stays != test.stays {
		t.Errorf("late: %v, early: %v, %d rows, %s: there are trees: %v", o.Late, o.Early, r.rows, test.name, stays)
	} else if grows := stays && w.forest.trees != old; grows != test.grows {
		t.Errorf("late: %v, early: %v, %d rows, %s: there are new trees: %v", o.Late, o.Early, r.rows, test.name, grows)
	} else if grows && slices.Max(w.forest.since) > 0 {
		t.Errorf("%d rows: new trees have the losses %v", r.rows, w.forest.since)
	}
}

// What the trees of the rest grow from is minus the derivative of the loss in each score of the
// best member without leaves, by differences.
func TestRestIsTheNegativeGradient(t *testing.T) {
	for _, h := range heads {
		w := planted(h)
		k, e, n := h.Scores(), len(w.members), h.Parts()
		for m := range w.members {
			for j := range n {
				w.loss[m*n+j] = float64(10 - m)
			}
		}
		best := 5 // that of 1,024 rows; those with leaves have more
		if w.members[best].rho != 1 || w.bestWithout() != best {
			t.Fatalf("the best member is %d, want %d", w.bestWithout(), best)
		}
		s, f := w.rest(), w.window.scores(e*k)
		for i := range 50 {
			at := f[(i*e+best)*k : (i*e+best+1)*k]
			value := func() (sum float64) {
				for j := range n {
					sum += h.LossOf(j).Value(h.Part(at, j), w.window.targets[i*n+j])
				}
				return sum
			}
			for j := range at {
				const step = 1e-5
				was := at[j]
				at[j] = was + step
				up := value()
				at[j] = was - step
				down := value()
				at[j] = was
				if got, want := s.Targets[i*k+j], (down-up)/(2*step); math.Abs(got-want) > 1e-6 {
					t.Fatalf("%v, row %d: the rest in score %d is %v, numerically %v", h.Loss, i, j, got, want)
				}
			}
		}
	}
}
