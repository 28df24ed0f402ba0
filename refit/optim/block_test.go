package optim

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

func solveBlocks(t *testing.T, p *BlockProblem, c Config) *Solution {
	t.Helper()
	s, err := SolveBlocks(context.Background(), p, c, Start{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBlocksOfOneAreCoordinates holds the block form against the other code, step
// by step.
func TestBlocksOfOneAreCoordinates(t *testing.T) {
	for _, l := range losses {
		p := newProblem(11, 40, 12, l, 1e-2, 1e-3)
		b := &BlockProblem{A: NewColumns(p.A.(*matrix.Dense), slices.Repeat([]int{1}, 12)...)}
		for _, y := range p.Targets {
			b.Losses = append(b.Losses, Sum{l, []float64{y}})
		}
		for range 12 {
			b.Regularizers = append(b.Regularizers, Elastic{1e-2, 1e-3})
		}
		for _, s := range []setting{{12, 1}, {1, 1}, {3, 5}, {12, 40}, {1, 40}} {
			for _, method := range []Method{DSPDC, SPDC, SDCA} {
				c := Config{Method: method, Primal: s.q, Dual: s.m, Seed: 5, Passes: 30}
				if s.m > 1 {
					c.Scale = 2 // the estimates are different ones
				}
				want, got := solve(t, p, c), solveBlocks(t, b, c)
				if d := distance(want.X, got.X) + distance(want.Y, got.Y); !(d < 1e-9) || math.Abs(want.Gap()-got.Gap()) > 1e-9 {
					t.Errorf("%v %v q=%d m=%d: %v apart, gaps %v and %v, scales %v and %v", l, method, s.q, s.m, d, want.Gap(), got.Gap(), want.Scale, got.Scale)
				}
			}
		}
	}
}

var regularizers = []Regularizer{
	Elastic{L2: 0.5},
	Elastic{L2: 0.5, L1: 0.8},
	Group{L2: 0.3, Norm: 1.5},
	Group{L2: 0.3, Norm: 50},
	Semidefinite{Dim: 3, L2: 0.7},
	Semidefinite{Dim: 3, L2: 0.7, Linear: []float64{-1, 0.5, 0, 0.5, 2, 0, 0, 0, 0.3}, Constant: 4},
}

// point returns a symmetric 3 x 3 matrix.
func point(r *rand.Rand) []float64 {
	a := make([]float64, 9)
	for i := range 3 {
		for j := range i + 1 {
			a[3*i+j] = 3 * r.NormFloat64()
			a[3*j+i] = a[3*i+j]
		}
	}
	return a
}

func TestProximalMapsMinimise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, g := range regularizers {
		for range 50 {
			x, c, inverseTau := point(r), point(r), r.Float64()
			objective := func(a []float64) float64 {
				s := g.Value(a)
				for k, v := range a {
					s += c[k]*v + inverseTau/2*(v-x[k])*(v-x[k])
				}
				return s
			}
			best := slices.Clone(x)
			g.Prox(best, c, inverseTau)
			least := objective(best)
			for range 20 {
				other := point(r)
				if _, ok := g.(Semidefinite); ok {
					project(other, 3)
				}
				near := 0.0
				step := math.Pow(10, -3*r.Float64())
				for k, v := range other { // the sets are convex
					other[k] = best[k] + step*(v-best[k])
					near += (other[k] - best[k]) * (other[k] - best[k])
				}
				if want := least + (g.Lambda()+inverseTau)/2*near; objective(other) < want-1e-9*(1+math.Abs(want)) {
					t.Fatalf("%+v: Prox has %v, and another point %v", g, least, objective(other))
				}
			}
			// With no inverseTau, Prox is where the conjugate's maximum is.
			at := slices.Clone(x)
			g.Prox(at, c, 0)
			got, want := 0.0, -g.Value(at)
			for k, v := range at {
				want -= c[k] * v
			}
			v := slices.Clone(c)
			for k := range v {
				v[k] = -v[k]
			}
			if got = g.Conjugate(v); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("%+v: the conjugate is %v, want %v", g, got, want)
			}
		}
	}
}

// TestTrianglesAreTheirMatrices compares the regularizer of triangles with that of
// whole matrices.
func TestTrianglesAreTheirMatrices(t *testing.T) {
	const d, inverseTau = 7, 0.4
	r := rand.New(rand.NewPCG(5, 0))
	triangle, whole := Triangle{Dim: d, L2: 0.7}, Semidefinite{Dim: d, L2: 0.7}
	for range 6 {
		x, c := random(r, 1, d*(d+1)/2), random(r, 1, d*(d+1)/2)
		if got, want := triangle.Conjugate(c), whole.Conjugate(triangle.matrix(c)); math.Abs(got-want) > 1e-12 {
			t.Errorf("the conjugate is %v, want %v", got, want)
		}
		moved, all := slices.Clone(x), triangle.matrix(x)
		triangle.Prox(moved, c, inverseTau)
		whole.Prox(all, triangle.matrix(c), inverseTau)
		if d := distance(triangle.matrix(moved), all); d > 1e-12 {
			t.Errorf("Prox is %v off", d)
		}
		if got, want := triangle.Value(moved), whole.Value(all); math.Abs(got-want) > 1e-12 {
			t.Errorf("the value is %v, want %v", got, want)
		}
	}
}

// risk returns matrix risk minimisation (45): n rows of p triangles of d x d, whose
// traces have the labels.
func risk(n, p, d int) *BlockProblem {
	r := rand.New(rand.NewPCG(3, 0))
	size := d * (d + 1) / 2
	elements, b := make([]float64, n*p*size), &BlockProblem{}
	for i := range n {
		trace := 0.0
		for j := range p {
			at := elements[(i*p+j)*size:][:size]
			for k, l := 0, 0; k < size; k, l = k+l+1, l+1 { // the rows of the triangle
				for m := k; m <= k+l; m++ {
					at[m] = r.NormFloat64()
				}
				trace += at[k+l]
			}
		}
		b.Losses = append(b.Losses, Sum{loss.SmoothedHinge{}, []float64{class(trace)}})
	}
	b.A = NewColumns(matrix.NewDense(n, p*size, elements), slices.Repeat([]int{size}, p)...)
	for range p {
		b.Regularizers = append(b.Regularizers, Triangle{Dim: d, L2: 0.01})
	}
	return b
}

func TestMatricesStaySemidefinite(t *testing.T) {
	p := risk(30, 4, 6)
	for _, c := range []Config{{Primal: 1, Dual: 1}, {Primal: 2, Dual: 10}, {Primal: 1, Dual: 30}, {Method: SPDC, Dual: 3}, {Method: SDCA, Dual: 3}} {
		c.Passes, c.Gap = 3000, 1e-9
		s := solveBlocks(t, p, c)
		if s.Gap() > 1e-9 {
			t.Errorf("%+v: gap %v after %v passes", c, s.Gap(), s.Passes)
		}
	}
	b, err := newBlocks(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []setting{{1, 1}, {2, 10}, {1, 30}} {
		x, y, _ := b.start(Start{})
		m := newBlockDSPDC(b, Config{Primal: s.q, Dual: s.m, Scale: b.scale(s.q, s.m)}, x, y)
		for range 200 {
			m.step()
			for j := range p.Regularizers {
				for _, v := range eigenvalues(Triangle{Dim: 6}.matrix(block(x, b.columnStart, j)), 6) {
					if v < -1e-12 {
						t.Fatalf("q=%d m=%d: an eigenvalue of an iterate is %v", s.q, s.m, v)
					}
				}
			}
		}
	}
}

// TestBlocksOfRowsAreSums has two rows a block: the same problem as with one, but
// for n.
func TestBlocksOfRowsAreSums(t *testing.T) {
	p := newProblem(12, 40, 12, loss.Logistic{}, 1e-2, 0)
	b := &BlockProblem{A: NewColumns(p.A.(*matrix.Dense), 5, 4, 3)}
	for i := 0; i < 40; i += 2 {
		b.Losses = append(b.Losses, Sum{loss.Logistic{}, p.Targets[i : i+2]})
	}
	for range 3 {
		b.Regularizers = append(b.Regularizers, Elastic{L2: 2e-2})
	}
	want := solve(t, p, Config{Gap: 1e-14})
	for _, c := range []Config{{}, {Primal: 1, Dual: 3}, {Primal: 1, Dual: 20}, {Method: SDCA, Dual: 2}} {
		c.Gap, c.Passes = 1e-13, 3000
		if got := solveBlocks(t, b, c); distance(got.X, want.X) > 1e-5 || !got.Reached {
			t.Errorf("%+v: %v from the optimum, gap %v", c, distance(got.X, want.X), got.Gap())
		}
	}
}

func TestGroupsLeaveBlocksOut(t *testing.T) {
	p := newProblem(13, 60, 12, loss.Square{}, 1e-2, 0)
	b := &BlockProblem{A: NewColumns(p.A.(*matrix.Dense), 4, 4, 4)}
	for _, y := range p.Targets {
		b.Losses = append(b.Losses, Sum{loss.Square{}, []float64{y}})
	}
	for _, norm := range []float64{0, 10, 0} {
		b.Regularizers = append(b.Regularizers, Group{1e-2, norm})
	}
	s := solveBlocks(t, b, Config{Primal: 1, Dual: 1, Gap: 1e-10})
	if !s.Reached || norm(s.X[4:8]) != 0 || norm(s.X[:4]) == 0 {
		t.Errorf("x is %v with a gap of %v", s.X, s.Gap())
	}
}
