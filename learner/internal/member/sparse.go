package member

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// sparseRate is the step size of Sparse for a row of one column, the default of Vowpal
	// Wabbit. Chosen by trial on generated documents.
	sparseRate = 0.5

	// mostStep bounds a coefficient of a column divided by its largest value.
	mostStep = 1e6
)

// Sparse is a linear model of the sparse part of rows: AdaGrad (Duchi, Hazan and Singer
// 2011) on columns that are divided by the largest of their values so far, with a step size
// for the mean number of columns in a row (Ross, Mineiro and Langford 2013, algorithm 3).
// The columns are hashed into a table of a fixed size (Weinberger and others 2009).
type Sparse struct {
	head target.Head
	mask uint32

	started   bool // the head has the scales of targets
	rows      float64
	norms     float64 // sum over all rows of squared values, divided by the largest of a column
	intercept []float64
	squares0  []float64 // sums of the squared gradients of the intercepts

	Coef    []float32 // slots × scores
	squares []float32 // sums of the squared gradients of the coefficients, slots × scores
	largest []float32 // of each slot; 0: no value yet
	room    int       // number of scores that Coef and squares have room for, as widenSlots made it

	// Served says that Coef is in the serving part of a state, and not saved with the rest.
	Served bool

	waiting Chunk // before the start
	f, g    []float64
}

// SparseKind is the kind of a member for rows whose columns are hashed to that many bits.
func SparseKind(bits int) Kind {
	return Kind{
		Name: "sparse", Help: fmt.Sprintf("linear model of the sparse columns, hashed to %d bits", bits),
		Suits: func(target.Task) bool { return true },
		New:   func(h target.Head) Member { return newSparse(h, bits) },
	}
}

func newSparse(h target.Head, bits int) *Sparse {
	n, k := 1<<bits, h.Scores()
	return &Sparse{
		head: h, mask: uint32(n - 1), intercept: make([]float64, k), squares0: make([]float64, k),
		Coef: make([]float32, n*k), squares: make([]float32, n*k), largest: make([]float32, n),
	}
}

// Start continues with targets of another scale, and learns the rows that have waited for it.
func (l *Sparse) Start(h target.Head, _ []float64) bool {
	if h.Task == target.Regression {
		for j, to := range h.Scales {
			l.rescale(j, l.head.Scales[j], to)
		}
	}
	l.head, l.started = h, true
	waiting := l.waiting
	l.waiting = Chunk{}
	if len(waiting.Labels) > 0 {
		l.Learn(&waiting)
	}
	return false
}

// rescale turns score j from one scale of its target to another.
func (l *Sparse) rescale(j int, from, to target.Scale) {
	if from == to || !l.started {
		return
	}
	ratio := from.Deviation / to.Deviation
	l.intercept[j] = (from.Mean + float64(from.Deviation*l.intercept[j]) - to.Mean) / to.Deviation
	l.squares0[j] *= ratio * ratio
	k := len(l.intercept)
	for i := j; i < len(l.Coef); i += k {
		if l.Coef[i] != 0 {
			l.put(i, float64(l.Coef[i])*ratio)
			l.squares[i] = float32(min(math.MaxFloat32, float64(l.squares[i])*ratio*ratio))
		}
	}
}

// put sets coefficient i within its bounds.
func (l *Sparse) put(i int, w float64) {
	bound := mostStep / float64(l.largest[i/len(l.intercept)])
	l.Coef[i] = float32(max(-bound, min(bound, w)))
}

func (l *Sparse) Score(f []float64, r *Row) bool {
	if !l.Ready() {
		return false
	}
	l.scores(f, r.Sparse)
	for j, u := range l.head.Scales {
		if to := r.Head.Scales[j]; u != to && l.head.Task == target.Regression { // before the first fit
			f[j] = (u.Mean + float64(u.Deviation*f[j]) - to.Mean) / to.Deviation
		}
	}
	return true
}

func (l *Sparse) scores(f []float64, x sparse.Row) {
	copy(f, l.intercept)
	AddSparse(f, x, l.Coef)
}

// AddSparse adds the scores of a row to f. coef has the coefficients, slots × scores, and the
// number of slots is a power of 2.
func AddSparse(f []float64, x sparse.Row, coef []float32) {
	if len(f) == 1 {
		mask, sum := uint32(len(coef)-1), f[0]
		for i, c := range x.Columns {
			sum += float64(float64(coef[c&mask]) * float64(x.Values[i]))
		}
		f[0] = sum
		return
	}
	vec.AddSlots(f, coef, x.Columns, x.Values)
}

// Ready reports whether l has learned something.
func (l *Sparse) Ready() bool { return l.rows > 0 }

// Intercept returns that of score c.
func (l *Sparse) Intercept(c int) float64 { return l.intercept[c] }

func (l *Sparse) Learn(c *Chunk) {
	if !l.started {
		l.wait(c)
		return
	}
	k := len(l.intercept)
	l.f, l.g = state.Extend(l.f[:0], k), state.Extend(l.g[:0], k)
	for i, y := range c.Labels {
		if c.Weights[i] == 0 {
			continue
		}
		x := c.Sparse.At(i)
		l.measure(x)
		l.scores(l.f, x)
		l.head.Grad(l.g, l.f, y)
		for j, r := range l.g {
			l.g[j] = max(-target.MaxResidual, min(target.MaxResidual, r)) * min(1, c.Weights[i])
		}
		l.step(x)
	}
}

// wait keeps the rows of c until the start.
func (l *Sparse) wait(c *Chunk) {
	w := &l.waiting
	w.Labels, w.Weights = append(w.Labels, c.Labels...), append(w.Weights, c.Weights...)
	for i := range c.Labels {
		w.Sparse.Append(c.Sparse.At(i))
	}
}

// measure updates the largest values of the columns, and the norms, with the values of a row. If
// the largest value of a column grows, its coefficients shrink in proportion.
func (l *Sparse) measure(x sparse.Row) {
	k, norm := len(l.intercept), 1.0
	for i, c := range x.Columns {
		slot, v := int(c&l.mask), float32(math.Abs(float64(x.Values[i])))
		if s := l.largest[slot]; v > s {
			l.largest[slot] = v
			for j := slot * k; s > 0 && j < (slot+1)*k; j++ {
				l.Coef[j] = float32(float64(l.Coef[j]) * (float64(s) / float64(v)))
			}
		}
		z := float64(v) / float64(l.largest[slot])
		norm += float64(z * z)
	}
	l.rows++
	l.norms += norm
}

// step takes a step along the gradient of the scores, in g.
func (l *Sparse) step(x sparse.Row) {
	rate := sparseRate * math.Sqrt(l.rows/l.norms)
	for j, g := range l.g {
		if sum := l.squares0[j] + float64(g*g); g != 0 && sum > 0 { // its square may be too small to be a number
			l.squares0[j] = sum
			l.intercept[j] -= float64(rate*g) / math.Sqrt(sum)
		}
	}
	vec.StepSlots(l.Coef, l.squares, l.largest, x.Columns, x.Values, l.g, rate, mostStep)
}

// Widen keeps the coefficients of the other classes. The new class has the share of one row.
func (l *Sparse) Widen(h target.Head, total float64) {
	from := l.head.Scores()
	l.head = h
	k := h.Scores()
	if from == k {
		return
	}
	wide := func(x []float64) []float64 { return h.Widen(x, from) }
	l.intercept = wide(l.intercept)
	l.intercept[k-1] = h.NewClassScore(append([]float64(nil), l.intercept[:k-1]...), total)
	l.widenSlots(wide, from, k)
	squares0 := make([]float64, k)
	for j := range k - 1 {
		squares0[j] = l.squares0[min(j, from-1)]
	}
	l.squares0 = squares0
}

// widenSlots makes room for k scores in each slot instead of from. wide turns the coefficients of a
// slot into k of them. Few slots are in use while classes appear, and mostly there is memory for
// more scores: then only the slots in use are moved, the last one first.
func (l *Sparse) widenSlots(wide func([]float64) []float64, from, k int) {
	n := len(l.largest)
	oldCoef, oldSquares := l.Coef, l.squares
	if l.room < k {
		l.room = k + k/4 // so that the table of 20 classes is allocated 7 times, not 19
		l.Coef, l.squares = make([]float32, n*k, n*l.room), make([]float32, n*k, n*l.room)
	} else {
		l.Coef, l.squares = l.Coef[:n*k], l.squares[:n*k]
	}
	row, sums := make([]float64, from), make([]float32, from)
	for slot := n - 1; slot >= 0; slot-- {
		if l.largest[slot] == 0 {
			continue
		}
		coef, squares := oldCoef[slot*from:(slot+1)*from], oldSquares[slot*from:(slot+1)*from]
		for j, w := range coef {
			row[j] = float64(w)
		}
		copy(sums, squares)
		clear(coef)
		clear(squares)
		for j, w := range wide(row) {
			l.Coef[slot*k+j] = float32(w)
		}
		for j := range k - 1 {
			l.squares[slot*k+j] = sums[min(j, from-1)]
		}
	}
}

func (l *Sparse) Save(a *state.Arrays, _ string) {
	k := len(l.intercept)
	flag := 0.0
	if l.started {
		flag = 1
	}
	state.Put(a, "sparse.rows", 3, []float64{flag, l.rows, l.norms})
	state.Put(a, "sparse.intercept", k, append(append([]float64{}, l.intercept...), l.squares0...))
	if !l.Served {
		state.Put(a, "sparse.own", k, l.Coef)
	}
	state.Put(a, "sparse.squares", k, l.squares)
	state.Put(a, "sparse.largest", 1, l.largest)
	l.waiting.Sparse.Save(a, "sparse.waiting")
	target.PutLabels(a, "sparse.waiting", l.waiting.Labels, l.head.Targets(), l.waiting.Weights)
}

// Load reads what Save wrote. If Coef is in the serving part of the state, the caller sets Coef and
// Served before.
func (l *Sparse) Load(s *state.Reader, _ string) {
	k, n := len(l.intercept), len(l.largest)
	rows := state.Take[float64](s, "sparse.rows", 1, 3)
	intercept := state.Take[float64](s, "sparse.intercept", 2, k)
	if !l.Served {
		l.Coef = state.Take[float32](s, "sparse.own", n, k)
	}
	squares := state.Take[float32](s, "sparse.squares", n, k)
	largest := state.Take[float32](s, "sparse.largest", n, 1)
	if s.Err != nil {
		return
	}
	s.Require(rows[0] == 0 || rows[0] == 1, "sparse.rows: a flag is %v", rows[0])
	s.Require(rows[1] >= 0 && rows[2] >= rows[1] && (rows[0] == 1 || rows[1] == 0), "sparse.rows: %v rows have the norm %v", rows[1], rows[2])
	for _, v := range squares {
		s.Require(v >= 0, "sparse.squares: a sum of squares is %v", v)
	}
	for _, v := range intercept[k:] {
		s.Require(v >= 0, "sparse.intercept: a sum of squares is %v", v)
	}
	for i, v := range largest {
		s.Require(v >= 0 && v <= 2e20, "sparse.largest: %v", v)
		for _, w := range l.Coef[i*k : (i+1)*k] {
			s.Require(math.Abs(float64(w))*float64(v) <= 2*mostStep && (v > 0 || w == 0), "sparse: a coefficient of a column is %v", w)
		}
	}
	l.started, l.rows, l.norms = rows[0] == 1, rows[1], rows[2]
	l.intercept, l.squares0, l.squares, l.largest = intercept[:k:k], intercept[k:], squares, largest
	waiting := 0
	if len(s.In) > 0 {
		waiting = s.In[0].Shape[0]
	}
	s.Require(waiting == 0 || !l.started, "sparse: rows wait after the start")
	l.waiting.Sparse.Load(s, "sparse.waiting", waiting)
	l.waiting.Labels, l.waiting.Weights = target.TakeLabels(s, "sparse.waiting", waiting, &l.head)
}
