package refit

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A Contest is a problem of the paper's section 6 and the methods that solve it.
type Contest struct {
	Figure  string  // of Yu, Lin and Yang 2015
	Title   string  // sizes and weights
	Times   float64 // how many times as long as others it takes to get anywhere
	entries []entry
}

type entry struct {
	name  string
	solve func(context.Context, Config) (*Solution, error)
	c     Config
}

// A Curve is the way of one method: gaps over passes and seconds.
type Curve struct {
	Name   string
	Points []Point
}

// Run has the methods solve the problem one after another, each for so many
// seconds by the clock, Times as many, or passes where there is no clock, or until the gap is
// 1e-10 of P(0). Progress, which may be nil, is told the name of a method before
// it begins.
func (c *Contest) Run(ctx context.Context, seconds float64, passes int, clock func() float64, progress func(name string)) ([]Curve, error) {
	var curves []Curve
	for _, e := range c.entries {
		if progress != nil {
			progress(e.name)
		}
		within, cancel := context.WithCancel(ctx)
		e.c.Relative, e.c.Passes, e.c.Clock = 1e-10, passes, clock
		e.c.Progress = func(at Point) {
			if at.Seconds >= seconds*c.Times && clock != nil {
				cancel()
			}
		}
		s, err := e.solve(within, e.c)
		cancel()
		if ctx.Err() != nil {
			return curves, ctx.Err()
		}
		if s == nil {
			return curves, fmt.Errorf("%s: %w", e.name, err)
		}
		curves = append(curves, Curve{e.name, s.Trace})
	}
	return curves, nil
}

// FactoredContest is section 6.1 on generated data: n rows of p numbers, and
// targets that the first 50 explain.
func FactoredContest(seed uint64, n, p, q, d int, l1, l2 float64) *Contest {
	normals := vec.NewNormals(vec.Key("factored contest", seed, 0))
	uniform := chance("factored labels", seed)
	g, draw := projection(normals, p, d), make([]float32, p)
	u, b := make([]float64, n*d), make([]float64, n)
	for i := range n {
		normals.Fill(draw)
		var s float64
		for j, x := range draw {
			g.Add(u[i*d:(i+1)*d], j, float64(x))
			if j < 50 {
				s += float64(x)
			}
		}
		b[i] = -1
		if float64(uniform.Uint64()>>11)/(1<<53) < sigmoid(s) {
			b[i] = 1
		}
	}
	title := fmt.Sprintf("n=%d p=%d q=%d d=%d m=1 λ₁=%g λ₂=%g", n, p, q, d, l1, l2)
	return projected("figure 1", title, NewDense(n, d, u), g, b, 1, q, l1, l2)
}

// ProjectedContest is section 6.1 on any rows of p numbers with targets -1 and 1.
func ProjectedContest(name string, x, targets []float64, p, q, d int, l1, l2 float64) *Contest {
	n := len(targets)
	g := projection(vec.NewNormals(vec.Key("projection", 1, 0)), p, d)
	u := make([]float64, n*d)
	for i := range n {
		for j, v := range x[i*p : (i+1)*p] {
			g.Add(u[i*d:(i+1)*d], j, v)
		}
	}
	title := fmt.Sprintf("%s: n=%d p=%d q=%d d=%d m=1 λ₁=%g λ₂=%g", name, n, p, q, d, l1, l2)
	return projected("figure 2", title, NewDense(n, d, u), g, targets, 1, q, l1, l2)
}

// SparseContest is section 6.1 on generated rows that are like documents: words of
// p, the k-th most frequent with a probability of about 1/k, weighted by the
// logarithm of how rare they are, and of the norm 1. Each row draws so many words.
// A plane through the words' weights has the targets, of which one in 20 is wrong.
func SparseContest(name string, seed uint64, n, p, words, m, q, d int, l1, l2 float64) *Contest {
	g := projection(vec.NewNormals(vec.Key("document map", seed, 0)), p, d)
	uniform := chance("documents", seed)
	unit := func() float64 { return float64(uniform.Uint64()>>11) / (1 << 53) }
	weight, most := make([]float32, p), vec.Log(float64(p))
	vec.NewNormals(vec.Key("word weights", seed, 0)).Fill(weight)
	u, b := make([]float64, n*d), make([]float64, n)
	for i := range n {
		row := map[int]float64{}
		var drawn []int
		for range words {
			word := int(vec.Exp(unit()*most)) - 1 // uniform in the logarithm of the rank
			if row[word] == 0 {
				drawn = append(drawn, word)
			}
			row[word]++
		}
		var norm, s float64
		for _, word := range drawn {
			row[word] = (1 + vec.Log(row[word])) * vec.Log(2+float64(word))
			norm += float64(row[word] * row[word])
			s += float64(row[word] * float64(weight[word]))
		}
		for _, word := range drawn {
			g.Add(u[i*d:(i+1)*d], word, row[word]/math.Sqrt(norm))
		}
		if b[i] = 1; (s < 0) != (unit() < 0.05) {
			b[i] = -1
		}
	}
	title := fmt.Sprintf("%s: n=%d p=%d m=%d q=%d d=%d λ₁=%g λ₂=%g", name, n, p, m, q, d, l1, l2)
	return projected("figure 2", title, NewDense(n, d, u), g, b, m, q, l1, l2)
}

// projection is Gᵀ, p x d.
func projection(normals *vec.Normals, p, d int) *Dense {
	v, draw := make([]float64, p*d), make([]float32, p)
	for k := range d {
		normals.Fill(draw)
		for j, g := range draw {
			v[j*d+k] = float64(g) / math.Sqrt(float64(d))
		}
	}
	return NewDense(p, d, v)
}

// mostFormed is how many numbers a product may have to be formed.
const mostFormed = 1e7

// projected is the smooth hinge on rows that are seen through a random projection
// g to d dimensions, u, and back, m dual and q primal coordinates a step. DSPDC
// and SPDC are Algorithm 2; SDCA has to go through the factors with all of x in
// every step, as table 1 has it. What the paper does not have is here for
// comparison where the product is not too large: SDCA and SVRG on it, formed
// beforehand, and where it is known DSPDC with the exact Λ next to the paper's choice of
// mqR²/p.
func projected(figure, title string, u, g *Dense, b []float64, m, q int, l1, l2 float64) *Contest {
	a := NewFactored(u, g)
	n, p := a.Dims()
	all := float64(m) * slices.Max(squaredNorms(a))
	entry := func(name string, a Matrix, c Config) entry {
		problem := &Problem{A: a, Targets: b, Loss: SmoothHinge{}, L2: l2, L1: l1}
		return entry{name, func(ctx context.Context, c Config) (*Solution, error) { return Solve(ctx, problem, c, Start{}) }, c}
	}
	dspdc := Config{Primal: q, Dual: m, Scale: all * float64(q) / float64(p)}
	spdc, sdca := Config{Method: SPDC, Dual: m, Scale: all}, Config{Method: SDCA, Dual: m}
	c := &Contest{Figure: figure, Title: title, Times: 1}
	c.entries = append(c.entries, entry("DSPDC", a, dspdc))
	if n*p > mostFormed {
		c.entries = append(c.entries, entry("SPDC", a, spdc), entry("SDCA", a, sdca))
		return c
	}
	product := make([]float64, n*p)
	for i := range n {
		a.Add(product[i*p:(i+1)*p], i, 1)
	}
	formed := NewDense(n, p, product)
	var exact bool
	if dspdc.Scale, exact = Scale(formed, q, m); exact {
		c.entries = append(c.entries, entry("DSPDC, exact Λ", a, dspdc))
	}
	c.entries = append(c.entries,
		entry("SPDC", a, spdc),
		entry("SDCA", a, sdca),
		entry("SPDC, A formed", formed, spdc),
		entry("SDCA, A formed", formed, sdca),
		entry("SVRG, A formed", formed, Config{Method: SVRG}),
	)
	return c
}

// blockContest has DSPDC with m dual and q primal blocks a step, and the others
// with m dual ones and all primal ones, as sections 6.2 and 6.3 have it; and what
// the paper does not have, DSPDC with all of both, where nothing is left to chance.
func blockContest(p *BlockProblem, m, q int) []entry {
	solve := func(ctx context.Context, c Config) (*Solution, error) { return SolveBlocks(ctx, p, c, Start{}) }
	return []entry{
		{"DSPDC", solve, Config{Primal: q, Dual: m}},
		{"DSPDC, m=n, q=p", solve, Config{Dual: len(p.Losses)}},
		{"SPDC", solve, Config{Method: SPDC, Dual: m}},
		{"SDCA", solve, Config{Method: SDCA, Dual: m}},
	}
}

// MatrixContest is section 6.2, MatrixRisk with the weight 0.01.
func MatrixContest(seed uint64, n, p, d, m, q int) *Contest {
	return &Contest{
		Figure:  "figure 3",
		Times:   1,
		Title:   fmt.Sprintf("d=%d p=%d n=%d m=%d q=%d λ=0.01", d, p, n, m, q),
		entries: blockContest(MatrixRisk(seed, n, p, d, 0.01), m, q),
	}
}

// MetricContest is section 6.3 on any tasks.
func MetricContest(name string, tasks []Labelled, dim int, c MetricConfig, m, q int) (*Contest, error) {
	p, err := MetricProblem(tasks, dim, c)
	if err != nil {
		return nil, err
	}
	n := len(p.Losses)
	return &Contest{
		Figure:  "figure 4",
		Times:   1,
		Title:   fmt.Sprintf("%s: %d tasks, d=%d, n=%d triplets, m=%d q=%d", name, len(tasks), dim, n, min(m, n), q),
		entries: blockContest(p, min(m, n), min(q, len(p.Regularizers))),
	}, nil
}

// Contests returns the paper's experiments one by one, each made when its turn
// comes, but for those on files: figure 2's Covtype, and figure 4's ALOI, in whose
// place is RelatedTasks. Figure 1 has the paper's sizes, figure 3 d=40, p=30 and
// n=100. If full, figure 2 has documents of the sizes of RCV1 and real-sim, and
// figure 3 the paper's d=100, p=100 and n=100, and one of its problems of d=200,
// which takes 800 MB.
func Contests(full bool) iter.Seq[*Contest] {
	var all []func() *Contest
	for _, l := range []struct{ l1, l2 float64 }{{1e-3, 1e-2}, {1e-6, 1e-5}} {
		for _, s := range []struct{ n, p, q, d int }{{5000, 100, 50, 20}, {10000, 100, 50, 50}, {10000, 500, 50, 50}} {
			all = append(all, func() *Contest { return FactoredContest(1, s.n, s.p, s.q, s.d, l.l1, l.l2) })
		}
	}
	matrices := func(times float64, d, p, m, q int) {
		all = append(all, func() *Contest {
			c := MatrixContest(1, 100, p, d, m, q)
			c.Times = times
			return c
		})
	}
	documents := func(name string, n, p, words, m, q int) {
		all = append(all, func() *Contest {
			c := SparseContest(name, 1, n, p, words, m, q, 20, 1e-4, 1e-2)
			c.Times = 4
			return c
		})
	}
	if full {
		documents("like RCV1", 20242, 47236, 90, 101, 236)
		documents("like real-sim", 72309, 20958, 60, 361, 104)
	}
	matrices(1, 40, 30, 5, 15)
	matrices(1, 40, 30, 50, 1)
	matrices(1, 40, 30, 20, 6)
	if full {
		matrices(4, 100, 100, 5, 50)
		matrices(4, 100, 100, 50, 5)
		matrices(4, 100, 100, 20, 20)
		matrices(20, 200, 100, 50, 5)
	}
	const dim, tasks = 16, 10
	learn, _ := RelatedTasks(1, tasks, 60, 0, dim)
	for _, s := range []struct{ m, q int }{{10, 2}, {20, 4}, {40, 6}} {
		all = append(all, func() *Contest {
			c, err := MetricContest("related tasks", learn, dim, MetricConfig{}, s.m, s.q)
			if err != nil {
				panic(err) // every task has three classes
			}
			return c
		})
	}
	return func(yield func(*Contest) bool) {
		for _, c := range all {
			if !yield(c()) {
				return
			}
		}
	}
}
