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

// spectrum holds the leading eigendirections of the kernel matrix. It is a direction of descent:
// the gradient itself until the eigendirections are found.
type spectrum struct {
	first         engine.Minibatch // the first rows, until there are enough of them; without scores
	directions    []float64        // directions × features: each of length 1, rounded to float32
	excess        []float64        // of each direction: 1 minus the ratio of the eigenvalue it is given to its own
	maxNorm       float64          // largest squared norm of a row after the excess is removed
	topEigenvalue float64          // largest eigenvalue after the excess is removed
	usual         float64          // running mean of the squared gradients

	gradient, direction []float64 // scratch
	step                []float32
	scores              []float64
}

func (l *spectrum) found() bool { return len(l.excess) > 0 }

// find computes the directions from all the features of rows x in f. It returns false if there are
// none.
func (l *spectrum) find(f *features.Bank, x []float32) bool {
	m := f.Map()
	n, width := len(x)/m.Dim, 2*m.BlockSize*f.Blocks()
	phi := make([]float32, n*width)
	block := make([]float32, n*2*m.BlockSize)
	for b := range f.Blocks() {
		f.Features(block, b, x)
		for i := range n {
			copy(phi[i*width+b*2*m.BlockSize:], block[i*2*m.BlockSize:(i+1)*2*m.BlockSize])
		}
	}
	products := rowProducts(phi, n, 2/float64(width))

	half := n / 2
	count := min(maxDirections, half/directionRows)
	a, values, vectors := make([]float64, half*half), make([]float64, half), make([]float64, half*half)
	for i := range half {
		for j := range half {
			a[i*half+j] = products[i*n+j] / float64(half)
		}
	}
	if !vec.Eigen(values, vectors, a, half) {
		return false
	}
	least := max(values[half-count-1], noiseFloor/float64(half))
	l.excess, l.directions = l.excess[:0], l.directions[:0]
	onto := make([]float64, (n-half)*count) // the other half of the rows, projected
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
	l.maxNorm = 0
	for i := range rest {
		for j := range rest {
			v := products[(half+i)*n+half+j]
			for q, c := range l.excess {
				v -= float64(c * float64(onto[i*count+q]*onto[j*count+q]))
			}
			a[i*rest+j] = v / float64(rest)
		}
		l.maxNorm = max(l.maxNorm, float64(rest)*a[i*rest+i])
	}
	l.topEigenvalue = vec.MaxEigenvalue(a, rest)
	return true
}

// rowProducts returns the products of the n rows of phi with each other, times scale.
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

// Apply limits the step to the minimum of a parabola through the loss of the mini-batch. The
// curvature of the parabola is the bound of the loss's curvature. For losses of probabilities it is
// target.CurvatureAlong.
func (l *spectrum) Apply(s *descent.Step, slope []float64) {
	if !l.found() {
		descent.Plain{}.Apply(s, slope)
		return
	}
	k, rows := s.Head.Scores(), len(s.Shares)
	width := len(slope) / k
	eta := maxStepFactor * float64(rows) / (l.maxNorm + float64(float64(rows-1)*l.topEigenvalue)) / s.Smoothness
	if math.IsInf(s.Head.Loss.Smoothness(), 1) {
		eta /= descent.Cooling(s.Since)
	}
	if l.usual == 0 {
		l.usual = s.Squares
	}
	l.usual += (s.Squares - l.usual) / usualDecay
	eta *= max(1, s.Squares/l.usual)
	eta *= 2 / float64(width) // features here are √(width/2) times as long
	l.gradient = state.Extend(l.gradient[:0], width)
	l.direction = state.Extend(l.direction[:0], len(slope))
	l.step = state.Extend(l.step[:0], len(slope))
	for c := range k {
		for j := range width {
			l.gradient[j] = slope[j*k+c]
		}
		for q, excess := range l.excess {
			e := l.directions[q*width : (q+1)*width]
			vec.Axpy(-excess*vec.Dot(e, l.gradient), e, l.gradient)
		}
		for j, v := range l.gradient {
			l.step[j*k+c] = float32(-eta * v)
			l.direction[j*k+c] = -eta * v
		}
	}
	l.scores = state.Extend(l.scores[:0], rows*k)
	s.Features.Sum(l.scores, s.X, l.step, k)
	curvature, probabilities := 0.0, s.Head.Probabilities()
	for i, share := range s.Shares {
		for j, v := range l.scores[i*k : (i+1)*k] {
			c := s.Smoothness
			if probabilities && share > 0 {
				c = target.CurvatureAlong(math.Abs(s.Residuals[i*k+j])/share, c)
			}
			curvature += float64(share * float64(c*float64(v*v)))
		}
	}
	length, gain := 1.0, -vec.Dot(slope, l.direction)
	if curvature > gain {
		length = gain / curvature
	}
	for i, v := range l.direction {
		slope[i] = length * v
	}
}

func (*spectrum) React() {}

func (*spectrum) Grow(int) {}

func (*spectrum) Widen(*target.Head, int) {}

func (l *spectrum) Save(a *state.Arrays) {
	directions := make([]float32, len(l.directions))
	for i, v := range l.directions {
		directions[i] = float32(v)
	}
	state.Put(a, "eigenpro.limits", 3, []float64{l.maxNorm, l.topEigenvalue, l.usual})
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
	l.maxNorm, l.topEigenvalue, l.usual = limits[0], limits[1], limits[2]
	s.Require(min(l.maxNorm, l.topEigenvalue, l.usual) >= 0 && l.found() == (l.maxNorm > 0), "eigenpro: invalid limits %v with %d eigendirections", limits, len(l.excess))
	for _, c := range l.excess {
		s.Require(c >= 0 && c <= 1, "eigenpro: the excess of an eigenvalue is %v", c)
	}
	for _, v := range directions {
		l.directions = append(l.directions, float64(v))
	}
}
