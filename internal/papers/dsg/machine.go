package dsg

import "math"

// Set is a data set with two classes.
type Set struct {
	Name        string
	Dim         int
	Train, Test []float32 // rows × Dim
	Y, TestY    []float64 // -1 or 1
}

// machine is a support vector machine with the Gaussian kernel that learns its rows one after the
// other, in several passes.
type machine interface {
	// learn learns row i of the training rows.
	learn(i int)
	// score returns the scores of the rows in x, which are rows × Dim numbers.
	score(x []float32) []float64
	// features returns the number of random or Nyström features, or of rows kept.
	features() int
}

// problem is the part that all machines have in common.
type problem struct {
	*Set
	scale   float64 // of the kernel: the median distance
	penalty float64 // ν = 1/(100n)
}

func newProblem(s *Set) problem {
	return problem{Set: s, scale: medianDistance(s.Train, s.Dim), penalty: 1 / (100 * float64(len(s.Y)))}
}

func (p *problem) row(i int) []float32 { return p.Train[i*p.Dim : (i+1)*p.Dim] }

// doublySVM is the paper's algorithm with the hinge loss, in mini-batches of 64 rows with
// blocks of 32 features.
type doublySVM struct {
	problem
	*gradient
	first float64
	x     []float32
	y     []float64
}

const (
	svmBatch = 64
	svmBlock = 32
)

// newDoublySVM returns a doublySVM with three times the step size for the square loss, which losses
// of classes tolerate.
func newDoublySVM(p problem) *doublySVM {
	return &doublySVM{problem: p, gradient: newGradient(p.Dim, svmBlock, 1, p.scale, 1), first: 3 / (topEigenvalue(p.Train, p.Dim, p.scale) + 1./svmBatch + 1./svmBlock)}
}

func (m *doublySVM) learn(i int) {
	m.x, m.y = append(m.x, m.row(i)...), append(m.y, m.Y[i])
	if len(m.y) < svmBatch {
		return
	}
	m.step(m.x, len(m.y), m.first/math.Sqrt(1+float64(m.steps)/30), m.penalty, func(f []float64) {
		for i, y := range m.y {
			f[i] = hingeSlope(f[i], y)
		}
	})
	m.x, m.y = m.x[:0], m.y[:0]
}

func hingeSlope(f, y float64) float64 {
	if y*f < 1 {
		return -y
	}
	return 0
}

func (m *doublySVM) score(x []float32) []float64 { return m.predict(nil, m.w, x, len(x)/m.Dim) }
func (m *doublySVM) features() int               { return m.gradient.features() }

// norma is the online kernel machine of Kivinen, Smola and Williamson (2004) with a budget: if it
// has too many rows, it forgets the oldest.
type norma struct {
	problem
	budget int
	rows   []int     // rows that are kept
	alpha  []float64 // their coefficients
	t      float64
}

func (m *norma) learn(i int) {
	m.t++
	rate := 1 / (1 + m.penalty*m.t) / math.Sqrt(1+m.t/1000)
	slope := hingeSlope(m.at(m.row(i)), m.Y[i])
	for j := range m.alpha {
		m.alpha[j] *= 1 - rate*m.penalty
	}
	if slope == 0 {
		return
	}
	m.rows, m.alpha = append(m.rows, i), append(m.alpha, -rate*slope)
	if len(m.rows) > m.budget {
		m.rows, m.alpha = m.rows[1:], m.alpha[1:]
	}
}

func (m *norma) at(x []float32) float64 {
	f := 0.0
	for j, i := range m.rows {
		f += m.alpha[j] * gaussian(squaredDistance(x, m.Train, 0, i, m.Dim), m.scale)
	}
	return f
}

func (m *norma) score(x []float32) []float64 {
	f := make([]float64, len(x)/m.Dim)
	for i := range f {
		f[i] = m.at(x[i*m.Dim : (i+1)*m.Dim])
	}
	return f
}

func (m *norma) features() int { return len(m.rows) }

// kernelSDCA is stochastic dual coordinate ascent (Shalev-Shwartz and Zhang 2013) in the space of
// the kernel. It evaluates the kernel for every row with a dual variable that is not 0.
type kernelSDCA struct {
	problem
	alpha []float64 // dual variables, in [0, 1]
	rows  []int     // rows whose dual variable is, or has been, other than 0
}

func (m *kernelSDCA) learn(i int) {
	if m.alpha == nil {
		m.alpha = make([]float64, len(m.Y))
	}
	f := m.at(m.row(i))
	n := float64(len(m.Y))
	was := m.alpha[i]
	m.alpha[i] = max(0, min(1, was+(1-m.Y[i]*f)*m.penalty*n))
	if was == 0 && m.alpha[i] != 0 {
		m.rows = append(m.rows, i)
	}
}

func (m *kernelSDCA) at(x []float32) float64 {
	f := 0.0
	for _, i := range m.rows {
		if a := m.alpha[i]; a != 0 {
			f += a * m.Y[i] * gaussian(squaredDistance(x, m.Train, 0, i, m.Dim), m.scale)
		}
	}
	return f / (m.penalty * float64(len(m.Y)))
}

func (m *kernelSDCA) score(x []float32) []float64 {
	f := make([]float64, len(x)/m.Dim)
	for i := range f {
		f[i] = m.at(x[i*m.Dim : (i+1)*m.Dim])
	}
	return f
}

func (m *kernelSDCA) features() int { return len(m.rows) }
