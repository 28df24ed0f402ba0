// Package ridge is exact least squares on a few random features, for several rates of
// forgetting at once.
package ridge

import (
	"fmt"
	"math"
	"sync"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Algorithm is the row of the registry.
var Algorithm = engine.Algorithm{
	Name: "ridge", Help: "exact least squares on at most 256 features, for several rates of forgetting; follows drift",
	New:       func(p engine.Problem) engine.Engine { return newEngine(p) },
	Minibatch: 32, BlockSize: 32, Loss: chooseLoss, FixedBlocks: blocks,
}

// ridge is least squares on a few random features, solved exactly by its normal equations. For
// classes it is one-vs-rest, with targets ±1. It solves the equations for several rates of
// forgetting at once, and predicts with a mixture of the solutions, weighted by their recent errors
// (exponential weights: Vovk 1990). On a stationary stream the mixture is the solution for all
// rows. On a stream that changes, it is the solution for as many recent rows as are still relevant.
//
// Candidate 0 is the mixture. The other candidates are its members, one for each rate.
type ridge struct {
	engine.Problem
	bank          *features.Bank
	penalty       float64 // on each squared coefficient, as a multiple of a row's squared error
	steps         int64
	members       []member
	noise         []float64 // recent squared error of the mixture, for each target; only the state has it
	intercept     []float64
	candidateCoef []float32 // what predictions are made with: features × columns

	phi, z     []float32 // scratch; z is weighted and has the intercept
	gram       []float64
	moment     []float64
	targets    []float64 // rows × scores
	scratch    vec.Scratch
	servedCoef []float32
	losses     []float64
}

// The constants of ridge, listed in docs/constants.md.
const (
	// maxFeatures is the number of random features. The time to solve grows with its cube. Chosen
	// by trial.
	maxFeatures = 256

	// lossDecay is the factor by which each row multiplies the errors so far: about the last 1,700
	// rows decide the mixture. Chosen by trial.
	lossDecay = 0.9994

	// A member whose share is below minorShare is solved only every minorInterval mini-batches.
	// Chosen by trial.
	minorShare    = 1e-3
	minorInterval = 8

	// boostFactor and forgetFactor multiply the weight of the rows so far in a reaction to drift.
	// Chosen by trial.
	boostFactor  = 0.1
	forgetFactor = 0.01

	// maxMargin bounds the margins of classes when members are graded: a margin beyond it counts as
	// right or wrong, and no more. Chosen by trial.
	maxMargin = 1.5

	// maxGradedResidual bounds the residuals of a regression when members are graded.
	maxGradedResidual = 2 * target.MaxResidual

	// parallelSize is the number of equations above which a goroutine for each member is
	// worthwhile. It has no influence on the results.
	parallelSize = 200
)

// forgettingFactors has one factor for each member: all rows count, or about the last 2,000, 500 or
// 100. Chosen by trial.
var forgettingFactors = []float64{1, 0.9995, 0.998, 0.99}

// blocks returns the number of blocks of a model, which has all of them from the start.
func blocks(c engine.Options) int { return max(1, min(c.MaxFeatures, maxFeatures)/c.BlockSize) }

func newEngine(p engine.Problem) *ridge {
	most := blocks(p.Options)
	r := &ridge{Problem: p, bank: p.Bank(), penalty: p.Fit.Lambda * warmup.LastCheckpoint, noise: make([]float64, p.Head.Targets())}
	r.bank.Grow(most)
	n, k, targets := 2*p.Options.BlockSize*most+1, p.Head.Scores(), p.Head.Targets()
	for _, f := range forgettingFactors {
		m := member{forget: f, Equations: leastsquares.New(n, k), w: make([]float64, k*n)}
		m.solved, m.error, m.share = make([]float64, targets), make([]float64, targets), make([]float64, targets)
		for j := range m.share {
			m.share[j] = 1 / float64(len(forgettingFactors))
		}
		r.members = append(r.members, m)
	}
	for i := range r.members {
		for j, b := range p.Prior {
			r.members[i].w[j*n+n-1] = b
		}
	}
	r.serve()
	return r
}

func (r *ridge) n() int        { return r.members[0].N }
func (r *ridge) Columns() int  { return len(r.intercept) }
func (r *ridge) Served() int   { return 0 }
func (r *ridge) Features() int { return r.bank.Blocks() * r.Options.BlockSize }

func (r *ridge) Score(dst []float64, x []float32, n int) []float64 {
	return engine.Scores(dst, r.bank, x, r.candidateCoef, r.intercept, n)
}

// norm returns the norm of the features of a row, by which they are divided.
func (r *ridge) norm() float64 { return math.Sqrt(float64(r.Features())) }

// serve computes the numbers that predictions need.
func (r *ridge) serve() {
	n, k, targets := r.n(), r.Head.Scores(), r.Head.Targets()
	columns := k * (1 + len(r.members))
	r.candidateCoef = state.Extend(r.candidateCoef[:0], (n-1)*columns)
	r.intercept = state.Extend(r.intercept[:0], columns)
	scale := 1 / r.norm()
	for i := range n {
		row, c := r.intercept, 1.0
		for j := range k {
			mixed := 0.0
			for e := range r.members {
				w := r.members[e].w[j*n+i]
				mixed += float64(r.members[e].share[j*targets/k] * w)
				if i < n-1 {
					r.candidateCoef[i*columns+(1+e)*k+j] = float32(scale * w)
				} else {
					row[(1+e)*k+j] = c * w
				}
			}
			if i < n-1 {
				r.candidateCoef[i*columns+j] = float32(scale * mixed)
			} else {
				row[j] = c * mixed
			}
		}
	}
}

func (r *ridge) Serving() engine.Served {
	k, columns := r.Head.Scores(), r.Columns()
	r.servedCoef = r.servedCoef[:0]
	for i := 0; i < len(r.candidateCoef); i += columns {
		r.servedCoef = append(r.servedCoef, r.candidateCoef[i:i+k]...)
	}
	return engine.Served{Blocks: r.bank.Blocks(), Intercept: r.intercept[:k], Coef: r.servedCoef}
}

// setTargets sets t to the targets of y, one for each score.
func (r *ridge) setTargets(t []float64, y target.Label) {
	if r.Head.Task == target.Regression {
		for j := range t {
			t[j] = max(-target.MaxResidual, min(target.MaxResidual, r.Head.Target(y, j)))
		}
		return
	}
	clear(t)
	r.Head.Grad(t, t, y) // the gradient at the scores 0
	for i, g := range t {
		t[i] = -g
	}
}

func (r *ridge) Learn(p *engine.Minibatch) {
	n, k, rows := r.n(), r.Head.Scores(), len(p.Labels)
	r.targets = state.Extend(r.targets[:0], rows*k)
	for i, y := range p.Labels {
		r.setTargets(r.targets[i*k:(i+1)*k], y)
	}
	r.grade(p)

	r.phi = state.Extend(r.phi[:0], rows*(n-1))
	r.bank.Features(r.phi, 0, p.X)
	r.z = state.Extend(r.z[:0], rows*n)
	z := r.z
	r.moment = state.Extend(r.moment[:0], k*n)
	clear(r.moment)
	weight, scale := 0.0, 1/r.norm()
	for i := range rows {
		row, w := z[i*n:(i+1)*n], math.Sqrt(p.Weights[i])
		for j, v := range r.phi[i*(n-1) : (i+1)*(n-1)] {
			row[j] = float32(float64(v) * scale * w)
		}
		row[n-1] = float32(w)
		for j, t := range r.targets[i*k : (i+1)*k] {
			t *= w
			m := r.moment[j*n : (j+1)*n]
			for l, v := range row {
				m[l] += float64(t * float64(v))
			}
		}
		weight += p.Weights[i]
	}
	r.gram = state.Extend(r.gram[:0], n*n)
	clear(r.gram)
	vec.Gram(r.gram, z, n, &r.scratch)

	r.steps++
	if n < parallelSize {
		for e := range r.members {
			r.learn(&r.members[e], rows, weight)
		}
	} else {
		var wait sync.WaitGroup
		for e := range r.members {
			wait.Go(func() { r.learn(&r.members[e], rows, weight) })
		}
		wait.Wait()
	}
	r.serve()
}

// React makes the rows so far count less.
func (r *ridge) React(to engine.Reaction) {
	f := boostFactor
	if to == engine.ReactForget {
		f = forgetFactor
	}
	for e := range r.members {
		m := &r.members[e]
		m.Equations.Forget(f)
		clear(m.error)
		clear(m.solved)
	}
}

func (r *ridge) Widen(h target.Head, prior []float64, total float64) {
	from := r.Head.Scores()
	r.Head = h
	n, k := r.n(), h.Scores()
	for e := range r.members {
		m := &r.members[e]
		switch {
		case k == from: // from one class to two
			m.w[n-1] = prior[0]
		default:
			w := m.w
			if from == 1 {
				w = make([]float64, 0, k*n)
				for _, v := range m.w {
					w = append(w, -v)
				}
				w = append(w, m.w...)
			}
			m.w = append(w, make([]float64, n)...)
			m.w[len(m.w)-1] = h.NewClassScore(nil, total)
			m.Equations.Widen(k)
		}
	}
	r.serve()
}

// chooseLoss accepts the losses that least squares minimises: square and one-vs-rest.
func chooseLoss(chosen loss.Loss, task target.Task) (loss.Loss, error) {
	switch {
	case chosen == nil && task == target.Classification:
		return loss.OneVsRest{}, nil
	case chosen == nil || chosen == loss.Square{} || chosen == loss.OneVsRest{}:
		return chosen, nil
	}
	return nil, fmt.Errorf("algorithm ridge needs loss square or one-vs-rest, but the loss is %s", chosen)
}
