// Package eigenpro is gradient descent preconditioned with the leading eigendirections of the
// kernel matrix (Ma and Belkin 2017).
package eigenpro

import (
	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Algorithm is the row of the registry.
var Algorithm = engine.Algorithm{
	Name: "eigenpro", Help: "preconditioned steps in all blocks (Ma and Belkin 2017); nearly as accurate as newton, and cheaper",
	New:       func(p engine.Problem) engine.Engine { return newEngine(p) },
	Minibatch: 128, BlockSize: 32,
}

// eigenpro is gradient descent in all features at once. In the gradient, the leading
// eigendirections of the kernel matrix are shortened to the length of the ones that follow, so that
// the step size can be larger by the ratio of the eigenvalues (Ma and Belkin 2017). A mini-batch
// costs little more than its prediction.
//
// It learns the first rows without the eigendirections. Then half of these rows determine the
// directions, and the other half the step size, which would be too large if it came from the rows
// that determined the directions. After that it learns the first rows again, several times.
type eigenpro struct {
	descent.Engine
	spectrum *spectrum
}

// The constants of eigenpro, listed in docs/constants.md.
const (
	// spectrumRows is the number of first rows that determine the directions and the step size. The
	// time to find the directions grows with its cube. Chosen by trial.
	spectrumRows = 1024

	// maxDirections bounds the number of directions. So does half the number of rows divided by
	// directionRows, because further directions are mostly noise. Chosen by trial.
	maxDirections = 128
	directionRows = 4

	// firstRowPasses is how often the first rows are learned again. Chosen by trial.
	firstRowPasses = 8

	// noiseFloor divided by the number of rows that determine the directions bounds the
	// eigenvalues: directions with smaller ones are noise. Chosen by trial.
	noiseFloor = 0.02

	// maxStepFactor is the largest step size while the gradients are as large as usual, as a
	// multiple of the largest step size that is stable on average. The noise of a mini-batch has a
	// share in the gradient. Where gradients are larger than usual, there is more to learn, and
	// steps are larger. Chosen by trial.
	maxStepFactor = 3

	// usualDecay is the inverse of the share of a mini-batch in the running mean of the squared
	// gradients. Chosen by trial.
	usualDecay = 100
)

func newEngine(p engine.Problem) *eigenpro {
	e := &eigenpro{spectrum: new(spectrum)}
	e.Engine = *descent.New(p, descent.All{Fixed: true}, e.spectrum, nil)
	return e
}

func (e *eigenpro) Learn(p *engine.Minibatch) {
	e.Engine.Learn(p)
	l := e.spectrum
	if l.found() || e.Coef.Steps == 0 {
		return
	}
	l.first.X = append(l.first.X, p.X...)
	l.first.Labels = append(l.first.Labels, p.Labels...)
	l.first.Weights = append(l.first.Weights, p.Weights...)
	if len(l.first.Labels) < spectrumRows {
		return
	}
	first := l.first
	l.first.Clear()
	if !l.find(e.Bank, first.X) {
		return
	}
	steps, size := e.Coef.Steps, e.Options.Minibatch
	for range firstRowPasses {
		for at := 0; at < len(first.Labels); at += size {
			end := min(at+size, len(first.Labels))
			again := engine.Minibatch{X: first.X[at*e.Dim : end*e.Dim], Labels: first.Labels[at:end], Weights: first.Weights[at:end]}
			again.Scores = e.Score(nil, again.X, end-at)
			e.Engine.Learn(&again)
		}
	}
	e.Rewind(steps)
}

func (e *eigenpro) Save(a *state.Arrays) {
	e.Engine.Save(a)
	state.Put(a, "eigenpro.x", e.Dim, e.spectrum.first.X)
	target.PutLabels(a, "eigenpro", e.spectrum.first.Labels, e.Head.Targets(), e.spectrum.first.Weights)
}

func (e *eigenpro) Load(s *state.Reader, v engine.Served, steps int64) {
	e.Engine.Load(s, v, steps)
	first := &e.spectrum.first
	first.X = state.Take[float32](s, "eigenpro.x", state.AnySize, e.Dim)
	first.Labels, first.Weights = target.TakeLabels(s, "eigenpro", len(first.X)/e.Dim, &e.Head)
	s.Require(len(first.Labels) < spectrumRows, "eigenpro: %d rows kept for the spectrum", len(first.Labels))
}
