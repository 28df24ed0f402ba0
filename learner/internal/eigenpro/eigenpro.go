package eigenpro

import (
	"math"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// eigenpro is descent in all features at once, on a gradient in which the
// directions that the kernel's matrix has its greatest eigenvalues in are
// shortened to the length of the others, so that the step can be as much longer
// (Ma and Belkin 2017). A mini-batch costs little more than its prediction,
// however many features there are.
//
// Its first rows go by without that. From half of them come the directions, and
// from the other half how far a step can go: the rows that the directions are
// made from would promise too much. Then it goes over them again, a few times.
type eigenpro struct {
	descent.Engine
	spectrum *spectrum
}

const (
	eigenRows       = 1024
	eigenDirections = 128
	eigenPasses     = 8
	eigenFloor      = 0.02 // divided by the rows: eigenvalues below are noise

	// eigenStep is the longest step, in terms of the longest that is stable on
	// average, where the gradients are as usual: the noise of a mini-batch has a
	// share in it. Where they are greater, there is more to be learned.
	eigenStep = 3
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
	if len(l.first.Labels) < eigenRows {
		return
	}
	first := l.first
	l.first.Clear()
	if !l.find(e.Bank, first.X) {
		return
	}
	steps, size := e.Coef.Steps, e.Options.Minibatch
	for range eigenPasses {
		for at := 0; at < len(first.Labels); at += size {
			end := min(at+size, len(first.Labels))
			again := engine.Minibatch{X: first.X[at*e.Dim : end*e.Dim], Labels: first.Labels[at:end], Weights: first.Weights[at:end]}
			again.Scores = e.Score(nil, again.X, end-at)
			e.Engine.Learn(&again)
		}
	}
	e.Rewind(steps)
}

// spectrum are the directions of the greatest eigenvalues.
type spectrum struct {
	first      engine.Minibatch // rows until there are enough; without sums
	directions []float64        // × features: of length 1, and rounded to float32
	excess     []float64        // of each: 1 - what its eigenvalue is to be / what it is
	norm, top  float64          // greatest of a row in the new metric, and eigenvalue there
	usual      float64          // squared gradient of late

	across, part []float64
	step         []float32
	sums         []float64
}

func (l *spectrum) found() bool { return len(l.excess) > 0 }

// find finds the directions in the features of rows x, all of f.
func (l *spectrum) find(f *features.Bank, x []float32) bool {
	m := f.Map()
	n, width := len(x)/m.Dim, 2*m.Width*f.Blocks()
	phi := make([]float32, n*width)
	block := make([]float32, n*2*m.Width)
	for b := range f.Blocks() {
		f.Features(block, b, x)
		for i := range n {
			copy(phi[i*width+b*2*m.Width:], block[i*2*m.Width:(i+1)*2*m.Width])
		}
	}
	products := rowProducts(phi, n, 2/float64(width))

	half := n / 2
	count := min(eigenDirections, half/4)
	a, values, vectors := make([]float64, half*half), make([]float64, half), make([]float64, half*half)
	for i := range half {
		for j := range half {
			a[i*half+j] = products[i*n+j] / float64(half)
		}
	}
	if !vec.Eigen(values, vectors, a, half) {
		return false
	}
	least := max(values[half-count-1], eigenFloor/float64(half))
	l.excess, l.directions = l.excess[:0], l.directions[:0]
	onto := make([]float64, (n-half)*count) // rows of the other half in the directions
	for q := range count {
		value, v := values[half-1-q], vectors[(half-1-q)*half:(half-q)*half]
		if value <= least {
			break
		}
		l.excess = append(l.excess, 1-least/value)
		scale := 1 / math.Sqrt(float64(half)*value)
		from := len(l.directions)
		l.directions = state.Extend(l.directions, width)
		e := l.directions[from:]
		clear(e)
		for i, u := range v {
			for j, z := range phi[i*width : (i+1)*width] {
				e[j] += float64(u * float64(z))
			}
		}
		for j := range e {
			e[j] = float64(float32(e[j] * scale * math.Sqrt(2/float64(width))))
		}
		for i := half; i < n; i++ {
			onto[(i-half)*count+q] = scale * vec.Dot(v, products[i*n:i*n+half])
		}
	}
	if len(l.excess) == 0 {
		return false
	}

	rest := n - half
	a = make([]float64, rest*rest)
	l.norm = 0
	for i := range rest {
		for j := range rest {
			v := products[(half+i)*n+half+j]
			for q, c := range l.excess {
				v -= float64(c * float64(onto[i*count+q]*onto[j*count+q]))
			}
			a[i*rest+j] = v / float64(rest)
		}
		l.norm = max(l.norm, float64(rest)*a[i*rest+i])
	}
	l.top = vec.MaxEigenvalue(a, rest)
	return true
}

// rowProducts returns scale times the products of n rows of phi with each other.
func rowProducts(phi []float32, n int, scale float64) []float64 {
	width := len(phi) / n
	columns := make([]float32, len(phi))
	for i := range n {
		for j, v := range phi[i*width : (i+1)*width] {
			columns[j*n+i] = v
		}
	}
	products := make([]float64, n*n)
	var s vec.Scratch
	vec.Gram(products, columns, n, &s)
	for i := range n {
		for j := range i + 1 {
			products[i*n+j] *= scale
			products[j*n+i] = products[i*n+j]
		}
	}
	return products
}

// Turn goes no further than to the least of a parabola through the mini-batch's
// loss, whatever its rows are. The parabola has the bound of the loss's
// curvature; where the loss is one of probabilities p, whose curvature p(1-p) is
// far below its bound for most rows, twice that and a little.
func (l *spectrum) Turn(s *descent.Step, slope []float64) {
	if !l.found() {
		descent.Plain{}.Turn(s, slope)
		return
	}
	k, rows := s.Head.Scores(), len(s.Shares)
	width := len(slope) / k
	eta := eigenStep * float64(rows) / (l.norm + float64(float64(rows-1)*l.top)) / s.Smoothness
	if math.IsInf(s.Head.Loss.Smoothness(), 1) {
		eta /= math.Sqrt(1 + float64(s.Since)/30)
	}
	if l.usual == 0 {
		l.usual = s.Squares
	}
	l.usual += (s.Squares - l.usual) / 100
	eta *= max(1, s.Squares/l.usual)
	eta *= 2 / float64(width) // features here are √(width/2) times as long
	l.across = state.Extend(l.across[:0], width)
	l.part = state.Extend(l.part[:0], len(slope))
	l.step = state.Extend(l.step[:0], len(slope))
	for c := range k {
		for j := range width {
			l.across[j] = slope[j*k+c]
		}
		for q, excess := range l.excess {
			e := l.directions[q*width : (q+1)*width]
			vec.Axpy(-excess*vec.Dot(e, l.across), e, l.across)
		}
		for j, v := range l.across {
			l.step[j*k+c] = float32(-eta * v)
			l.part[j*k+c] = -eta * v
		}
	}
	l.sums = state.Extend(l.sums[:0], rows*k)
	s.Features.Sum(l.sums, s.X, l.step, k)
	bend, probabilities := 0.0, s.Head.Probabilities()
	for i, share := range s.Shares {
		for j, v := range l.sums[i*k : (i+1)*k] {
			c := s.Smoothness
			if probabilities && share > 0 {
				c = target.CurvatureAlong(math.Abs(s.Residue[i*k+j])/share, c)
			}
			bend += float64(share * float64(c*float64(v*v)))
		}
	}
	length, gain := 1.0, -vec.Dot(slope, l.part)
	if bend > gain {
		length = gain / bend
	}
	for i, v := range l.part {
		slope[i] = length * v
	}
}

func (*spectrum) React()                  {}
func (*spectrum) Grow(int)                {}
func (*spectrum) Widen(*target.Head, int) {}

func (l *spectrum) Save(a *state.Arrays) {
	directions := make([]float32, len(l.directions))
	for i, v := range l.directions {
		directions[i] = float32(v)
	}
	state.Put(a, "eigenpro.limits", 3, []float64{l.norm, l.top, l.usual})
	state.Put(a, "eigenpro.excess", 1, l.excess)
	state.Put(a, "eigenpro.directions", 1, directions)
}

func (l *spectrum) Load(s *state.Reader, features, _ int) {
	limits := state.Take[float64](s, "eigenpro.limits", 1, 3)
	l.excess = state.Take[float64](s, "eigenpro.excess", state.AnySize, 1)
	directions := state.Take[float32](s, "eigenpro.directions", len(l.excess)*features, 1)
	if s.Err != nil {
		return
	}
	l.norm, l.top, l.usual = limits[0], limits[1], limits[2]
	s.Require(min(l.norm, l.top, l.usual) >= 0 && l.found() == (l.norm > 0), "eigenpro: limits %v, %d directions", limits, len(l.excess))
	for _, c := range l.excess {
		s.Require(c >= 0 && c <= 1, "eigenpro: an excess is %v", c)
	}
	for _, v := range directions {
		l.directions = append(l.directions, float64(v))
	}
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
	s.Require(len(first.Labels) < eigenRows, "eigenpro: %d first rows", len(first.Labels))
}

var Algorithm = engine.Algorithm{
	Name: "eigenpro", Help: "gradient descent without the leading eigendirections (Ma and Belkin 2017)",
	New:       func(p engine.Problem) engine.Engine { return newEngine(p) },
	Minibatch: 128, BlockSize: 32,
}
