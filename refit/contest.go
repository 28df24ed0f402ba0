package refit

import (
	"context"
	"fmt"
	"math"

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
	return projected("figure 1", title, NewDense(n, d, u), g, b, q, l1, l2)
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
	return projected("figure 2", title, NewDense(n, d, u), g, targets, q, l1, l2)
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

// projected is the smooth hinge on rows that are seen through a random projection
// g to d dimensions, u, and back, one dual and q primal coordinates a step. DSPDC
// and SPDC are Algorithm 2; SDCA has to go through the factors with all of x in
// every step, as table 1 has it. What the paper does not have is here for
// comparison: SDCA and SVRG on the product, formed beforehand, and DSPDC with the
// exact Λ next to the paper's choice of mqR²/p.
func projected(figure, title string, u, g *Dense, b []float64, q int, l1, l2 float64) *Contest {
	a := NewFactored(u, g)
	n, p := a.Dims()
	product := make([]float64, n*p)
	for i := range n {
		a.Add(product[i*p:(i+1)*p], i, 1)
	}
	factored := &Problem{A: a, Targets: b, Loss: SmoothHinge{}, L2: l2, L1: l1}
	formed := &Problem{A: NewDense(n, p, product), Targets: b, Loss: SmoothHinge{}, L2: l2, L1: l1}
	exact, _ := Scale(formed.A, q, 1)
	all, _ := Scale(formed.A, p, 1)
	solver := func(p *Problem) func(context.Context, Config) (*Solution, error) {
		return func(ctx context.Context, c Config) (*Solution, error) { return Solve(ctx, p, c, Start{}) }
	}
	return &Contest{
		Figure: figure, Title: title, Times: 1,
		entries: []entry{
			{"DSPDC", solver(factored), Config{Primal: q, Scale: all * float64(q) / float64(p)}},
			{"DSPDC, exact Λ", solver(factored), Config{Primal: q, Scale: exact}},
			{"SPDC", solver(factored), Config{Method: SPDC, Scale: all}},
			{"SDCA", solver(factored), Config{Method: SDCA}},
			{"SPDC, A formed", solver(formed), Config{Method: SPDC, Scale: all}},
			{"SDCA, A formed", solver(formed), Config{Method: SDCA}},
			{"SVRG, A formed", solver(formed), Config{Method: SVRG}},
		},
	}
}

// blockContest has DSPDC with m dual and q primal blocks a step, and the others
// with m dual ones and all primal ones, as sections 6.2 and 6.3 have it.
func blockContest(p *BlockProblem, m, q int) []entry {
	solve := func(ctx context.Context, c Config) (*Solution, error) { return SolveBlocks(ctx, p, c, Start{}) }
	return []entry{
		{"DSPDC", solve, Config{Primal: q, Dual: m}},
		{"SPDC", solve, Config{Method: SPDC, Dual: m}},
		{"SDCA", solve, Config{Method: SDCA, Dual: m}},
	}
}

// MatrixContest is section 6.2, MatrixRisk with the weight 0.01.
func MatrixContest(seed uint64, n, p, d, m, q int) *Contest {
	return &Contest{
		Figure:  "figure 3",
		Times:   max(1, float64(d)*float64(d)*float64(d)*float64(p)/1e7),
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
// comes. Those on files (figures 2 and 4: Covtype, RCV1, real-sim, ALOI) are not
// among them; figure 4 is drawn from RelatedTasks instead. The
// sizes are the paper's for figure 1; for figure 3 they are with d=100, p=100 and
// n=100 if full, which takes 200 MB and minutes to get anywhere, and otherwise
// with d=40, p=30 and n=100.
func Contests(full bool) func(yield func(*Contest) bool) {
	return func(yield func(*Contest) bool) {
		for _, l := range []struct{ l1, l2 float64 }{{1e-3, 1e-2}, {1e-6, 1e-5}} {
			for _, s := range []struct{ n, p, q, d int }{{5000, 100, 50, 20}, {10000, 100, 50, 50}, {10000, 500, 50, 50}} {
				if !yield(FactoredContest(1, s.n, s.p, s.q, s.d, l.l1, l.l2)) {
					return
				}
			}
		}
		d, p := 40, 30
		if full {
			d, p = 100, 100
		}
		for _, s := range []struct{ m, q int }{{5, p / 2}, {50, max(1, p/20)}, {20, p / 5}} {
			if !yield(MatrixContest(1, 100, p, d, s.m, s.q)) {
				return
			}
		}
		const dim, tasks = 16, 10
		learn, _ := RelatedTasks(1, tasks, 60, 0, dim)
		for _, s := range []struct{ m, q int }{{10, 2}, {20, 4}, {40, 6}} {
			c, err := MetricContest("related tasks", learn, dim, MetricConfig{}, s.m, s.q)
			if err != nil {
				panic(err) // every task has three classes
			}
			if !yield(c) {
				return
			}
		}
	}
}
