// Package newton is the algorithm of block-Newton steps on a window of the last rows.
// docs/algorithms.md has its equations.
package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Algorithm is the row of the registry.
var Algorithm = engine.Algorithm{
	Name: "newton", Help: "block-Newton steps on a window of the last 8,192 or 16,384 rows; the most accurate",
	New:       func(p engine.Problem) engine.Engine { return newEngine(p) },
	Minibatch: 32, BlockSize: blockSize, FeatureBytes: factorBytes, Packed: packed, Forest: true, Effort: rowVisitsPerExample,
}

// newton takes block-Newton steps on a window of the last rows. It keeps the scores
// of these rows, so that a step costs the same for any number of features. A step
// changes one block: a new one, or, at max_features, the next of the existing ones.
//
// The members of its ensemble share the features, the window and the Gram matrices
// of the blocks. They differ in the penalty and in the number of rows they learn
// from. The averages of the iterates of those that learn from the whole window know
// more rows than the window has, because the solution of each window is one of a
// divide-and-conquer regression (Zhang, Duchi and Wainwright 2015). The served model
// is the mixture of all of them, weighted by the exponentials of their negative
// recent losses, for each target.
type newton struct {
	engine.Problem
	plan
	factorOf []int // of each member: which factor of a Gram matrix it uses
	factors  int   // of each Gram matrix

	bank             *features.Bank
	coef             []float64 // of the members, features × members × scores
	intercept        []float64 // members × scores
	averageCoef      []float64 // averages of coef over the mini-batches, features × averages × scores
	averageIntercept []float64 // and of intercept
	batches          int64     // mini-batches in the averages

	// What predictions are made with: the mixture, the members, the averages.
	candidateCoef      []float32 // features × columns
	candidateIntercept []float64
	packed             features.Packed // candidateCoef

	mix      []float64 // shares of the candidates that predictions are made with, candidates × targets
	changed  changes
	loss     []float64 // of each member and average for each target, decayed
	window   window
	cache    features.Cache // of the phases of the window
	grams    []gram         // of each block
	spare    []gram         // memory of blocks to come
	forest   leaves
	trackers trackers
	next     int   // block to change, once there are as many as there may be
	credit   int64 // row visits that steps may still make
	thin     int   // see Thin
	settling bool  // see Settle

	discarding bool  // whether members that do not pay are discarded
	discarded  int64 // a bit for each member, numbered as before any was discarded; and keepsAll

	scratch scratch
}

type scratch struct {
	team      *cores.Team // of the step
	stepRows  func(worker, task int)
	stepped   []float64 // coefficients of the block
	far       []bool    // for each task of stepCoefficients: whether one of these may have diverged
	gradient  gradientScratch
	direction directionScratch
	gram      gramScratch
	rowSums   rowSums
	held      features.Held
	g, scores []float64 // rows × members × scores, where features cannot be held
	targets   []float64 // of a mini-batch
	d         []float64 // sums with the step, in panels of rows
	slope     []float64
	step      []float32
	mix       []float64
	shares    []float64 // of members and averages in the scores of the mixture
	losses    []float64
	total     []float64 // weight of the rows of each member
	size      []float64 // step size of each member and score
}

// The constants of newton, listed in docs/constants.md.
const (
	// windowRows is the size of the window, unless it is long: more rows fit better and cost more
	// per step. Chosen by trial.
	windowRows = 8192

	// minWindow is the number of rows from which on there are steps: those of the
	// first checkpoint of the warm-up.
	minWindow = 64

	// gramRows is the number of rows of a Gram matrix, if the window has as many.
	// For the direction of a step it need not be exact. Chosen by trial.
	gramRows = 2048

	// maxGramVisits is the number of steps in a block after which its Gram matrix is
	// computed again, from newer rows. Chosen by trial.
	maxGramVisits = 8

	// fittingVisits stands in for it with Options.Fitting, where a matrix is also computed again
	// after a step that is shorter than leastLength. Chosen by trial.
	fittingVisits, leastLength = 32, 0.7

	// gramMargin is a factor of the Gram matrix, which may be of other rows than the
	// gradient. Chosen by trial.
	gramMargin = 1.05

	// rowVisitsPerExample is the number of rows of the window that steps visit for
	// each example learned, unless an effort is configured. Chosen by trial.
	rowVisitsPerExample = 256

	// maxStepsPerBatch bounds the steps in a mini-batch, of which there are more
	// while the window is small. Chosen by trial.
	maxStepsPerBatch = 32

	// rowsAgain is the number of rows for each of the steps that follow when the rows of the
	// warm-up are learned again, with rowVisitsPerExample. With fewer visits there are
	// proportionally fewer steps: at least leastAgain. Chosen by trial.
	rowsAgain, leastAgain = 4, 16

	// lastRowsAgain stands in for rowsAgain after the last fit of the warm-up in a frugal model,
	// and after each fit in a plain one. Chosen by trial.
	lastRowsAgain = 8

	// gramGrowth is the growth of the rows of a Gram matrix at which it is computed again.
	// Chosen by trial.
	gramGrowth = 1.5

	// maxGradedLoss bounds the loss of a row in the grades of members, so that a
	// single one does not decide which of them count. Chosen by trial.
	maxGradedLoss = 50

	// lossDecay is the factor of the losses so far for each row: about the last
	// 10,000 rows decide the mixture. Chosen by trial.
	lossDecay = 0.9999

	// averagingHorizon is about the number of mini-batches that averages remember. Chosen by trial.
	averagingHorizon = 1000
)

// factorBytes is the memory of the part that a random feature has in the factors of its block. They
// are computed from the Gram matrices and are in no State: 3 penalties × (2 × block size)² numbers
// of 8 bytes a block, at the default block size.
const factorBytes = 3 * 4 * blockSize * 8

const blockSize = 64 // default: a step solves with matrices of twice that

func newEngine(p engine.Problem) *newton {
	effort := effort(&p)
	p = limited(p, effort)
	w := newPlanned(p, planOf(&p, effort))
	w.discarding = p.Options.Discard
	return w
}

func newPlanned(p engine.Problem, by plan) *newton {
	w := &newton{Problem: p, plan: by, bank: p.Bank()}
	w.take(p.Before)
	if w.scratch.team = p.Team; p.Team == nil {
		w.scratch.team = new(cores.Team)
	}
	w.factorOf, w.factors = sharedFactors(w.members)
	for range w.members {
		w.intercept = append(w.intercept, p.Prior...)
	}
	w.forest = w.newLeaves()
	w.averageIntercept = slices.Clone(w.intercept[:w.averaged*len(p.Prior)])
	w.loss = make([]float64, (len(w.members)+w.averaged)*p.Head.Parts())
	w.trackers = newTrackers(by.tracking, p.Options.BlockSize, len(p.Prior), p.Head.Parts())
	w.serve()
	return w
}

// take reuses the memory of the engine that w replaces, which is not used any more. During the first
// rows, allocating memory for new blocks would take about as long as their steps.
func (w *newton) take(from engine.Engine) {
	w.Before = nil
	if old, ok := from.(*newton); ok {
		w.spare = append(old.spare, old.grams...)
		w.cache.Take(&old.cache)
		w.coef, w.averageCoef = old.coef[:0], old.averageCoef[:0]
		*old = newton{}
	}
}

// grown returns v with n more coefficients, which are 0. It has room for half as many
// again, so that they are seldom copied.
func grown(v []float64, n int) []float64 {
	if cap(v)-len(v) < n {
		v = slices.Grow(v, max(n, len(v)/2))
	}
	at := len(v)
	v = v[:at+n]
	clear(v[at:])
	return v
}

func (w *newton) Columns() int  { return (1 + len(w.members) + w.averaged) * w.Head.Scores() }
func (w *newton) Served() int   { return 0 }
func (w *newton) Features() int { return w.bank.Blocks() * w.Options.BlockSize }

func (w *newton) Score(dst []float64, x []float32, n int) []float64 {
	from := len(dst)
	w.packed.Team, w.packed.Cache = w.scratch.team, &w.cache
	w.packed.Team.Resize(w.scoreCores(n))
	dst = engine.ScoresPacked(dst, w.bank, x, w.candidateCoef, &w.packed, w.candidateIntercept, n)
	w.scoreLeaves(dst[from:], x)
	return dst
}

func (w *newton) Serving() engine.Served {
	k := w.Head.Scores()
	coef := make([]float32, 0, len(w.candidateCoef)/w.Columns()*k)
	for i := 0; i < len(w.candidateCoef); i += w.Columns() {
		coef = append(coef, w.candidateCoef[i:i+k]...)
	}
	return engine.Served{Blocks: w.bank.Blocks(), Intercept: w.candidateIntercept[:k], Coef: coef, Forest: w.forest.trees, LeafCoef: w.forest.serving(k)}
}

func (w *newton) Learn(p *engine.Minibatch) {
	w.grade(p)
	w.learnLasting(p)
	w.learnTrackers(p)
	w.changed = changes{blocks: w.changed.blocks[:0]}
	before := w.window.rows
	if w.credit+int64(len(p.Labels))*w.visitsNow() >= int64(w.window.rows) {
		w.scratch.team.Start() // for the step that follows
	}
	w.push(p)
	w.discardFollowers(before)
	again := p.Again && w.Options.Lean
	if again && p.More {
		return
	}
	w.grow()
	w.regrow(before, w.window.rows)
	if w.Head.Task == target.Regression || w.Head.Classes > 1 {
		w.credit += int64(len(p.Labels)) * w.visitsNow()
		most := maxStepsPerBatch
		if again {
			most = int(max(leastAgain, int64(w.window.rows)/w.rowsAgain()*w.visits/rowVisitsPerExample))
			w.credit = int64(most) * int64(w.window.rows)
		}
		for range most {
			if w.window.rows < minWindow || w.credit < int64(w.window.rows) {
				break
			}
			w.credit -= int64(w.window.rows)
			w.step()
		}
		w.credit = min(w.credit, int64(w.length))
	}
	w.resetDiverged(nil)
	w.judge(before)
	w.discardMembers(before)
	w.beginAverages()
	w.averageAndServe()
	w.scratch.team.Rest()
}

// grade adds the losses of the rows of p to those of the members and averages.
func (w *newton) grade(p *engine.Minibatch) {
	k, columns := w.Head.Scores(), w.Columns()
	if w.Head.Task == target.Classification && w.Head.Classes < 2 {
		return
	}
	n := w.Head.Parts()
	for i, y := range p.Labels {
		for j := range n {
			t := w.target(y, j)
			for m := range w.candidates() {
				f := w.Head.Part(p.Scores[i*columns+(1+m)*k:i*columns+(2+m)*k], j)
				loss := min(w.Head.LossOf(j).Value(f, t), maxGradedLoss)
				sum := &w.loss[m*n+j]
				*sum = float64(*sum*lossDecay) + float64(p.Weights[i]*loss)
				if len(w.forest.since) > 0 {
					w.forest.since[m*n+j] += float64(p.Weights[i] * loss)
				}
			}
		}
	}
}

// target returns target j of y as the loss of a row of a mini-batch takes it: bounded, for numbers.
func (w *newton) target(y target.Label, j int) float64 {
	t := w.Head.PartTarget(y, j)
	if w.Head.Task == target.Regression {
		t = max(-target.MaxResidual, min(target.MaxResidual, t))
	}
	return t
}

func (w *newton) Widen(h target.Head, prior []float64, total float64) {
	from, e := w.Head.Scores(), len(w.members)
	w.Head = h
	k := h.Scores()
	w.trackers = newTrackers(w.tracking, w.Options.BlockSize, k, 1)
	intercept := make([]float64, 0, e*k)
	for m := range w.members {
		if from == k { // from one class to two
			intercept = append(intercept, prior...)
		} else {
			intercept = append(intercept, h.WidenIntercept(w.intercept[m*from:(m+1)*from], total)...)
		}
	}
	w.intercept = intercept
	w.averageIntercept = slices.Clone(intercept[:w.averaged*k])
	f := w.window.scores(e * from)
	if from == k {
		for i := range f {
			f[i] = intercept[i%(e*k)]
		}
	} else {
		w.coef, w.averageCoef = h.Widen(w.coef, from), h.Widen(w.averageCoef, from)
		f = h.Widen(f, from)
		w.forest.widen(h, from)
		for i := k - 1; i < len(f); i += k {
			f[i] = intercept[i%(e*k)]
		}
	}
	w.window.setScores(f, e*k)
	for i := range w.grams {
		w.grams[i].factors = w.grams[i].factors[:0] // the curvature has changed
	}
	if w.Options.ForestTrial && w.forest.trees != nil && k > trialScores {
		w.discardForest()
	}
	w.serve()
}
