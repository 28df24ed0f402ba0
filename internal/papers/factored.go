package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// factoredContest returns the problem of section 6.1 on generated data: n rows
// of p numbers, with classes that depend on the first 50.
func factoredContest(seed uint64, n, p, q, d int, l1, l2 float64) *contest {
	normals := vec.NewNormals(vec.Key("factored contest", seed, 0))
	uniform := rand.NewChaCha8(vec.Key("factored labels", seed, 0))
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
		var probability [2]float64
		loss.Logistic{}.Link(probability[:], []float64{s})
		if unitInterval(uniform) < probability[1] {
			b[i] = 1
		}
	}
	title := fmt.Sprintf("n=%d p=%d q=%d d=%d m=1 λ₁=%g λ₂=%g", n, p, q, d, l1, l2)
	return projected("figure 1", title, matrix.NewDense(n, d, u), g, b, 1, q, l1, l2)
}

// unitInterval returns a number in [0, 1).
func unitInterval(c *rand.ChaCha8) float64 { return float64(c.Uint64()>>11) / (1 << 53) }

// projectedContest returns the problem of section 6.1 on the given rows of p
// numbers with classes 0 and 1.
func projectedContest(name string, x, classes []float64, p, q, d int, l1, l2 float64) *contest {
	n := len(classes)
	g := projection(vec.NewNormals(vec.Key("projection", 1, 0)), p, d)
	u := make([]float64, n*d)
	for i := range n {
		for j, v := range x[i*p : (i+1)*p] {
			g.Add(u[i*d:(i+1)*d], j, v)
		}
	}
	title := fmt.Sprintf("%s: n=%d p=%d q=%d d=%d m=1 λ₁=%g λ₂=%g", name, n, p, q, d, l1, l2)
	return projected("figure 2", title, matrix.NewDense(n, d, u), g, classes, 1, q, l1, l2)
}

// documentSize is the size of a document contest: n rows with the given number
// of words out of p, and m dual and q primal coordinates per step.
type documentSize struct{ n, p, words, m, q int }

// documentContest returns the problem of section 6.1 on generated rows that resemble documents. The
// k-th most frequent word has a probability of about 1/k, words are weighted by the logarithm of
// their inverse frequency, and rows have norm 1. A hyperplane in the space of word weights
// determines the classes. One class in 20 is wrong.
func documentContest(name string, seed uint64, size documentSize, d int, l1, l2 float64) *contest {
	n, p := size.n, size.p
	g := projection(vec.NewNormals(vec.Key("document map", seed, 0)), p, d)
	uniform := rand.NewChaCha8(vec.Key("documents", seed, 0))
	weight, most := make([]float32, p), vec.Log(float64(p))
	vec.NewNormals(vec.Key("word weights", seed, 0)).Fill(weight)
	u, b := make([]float64, n*d), make([]float64, n)
	for i := range n {
		row := map[int]float64{}
		var drawn []int
		for range size.words {
			word := int(vec.Exp(unitInterval(uniform)*most)) - 1 // uniform in the logarithm of the rank
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
		if b[i] = 1; (s < 0) != (unitInterval(uniform) < 0.05) {
			b[i] = 0
		}
	}
	title := fmt.Sprintf("%s: n=%d p=%d m=%d q=%d d=%d λ₁=%g λ₂=%g", name, n, p, size.m, size.q, d, l1, l2)
	return projected("figure 2", title, matrix.NewDense(n, d, u), g, b, size.m, size.q, l1, l2)
}

// projection returns Gᵀ, p x d.
func projection(normals *vec.Normals, p, d int) *matrix.Dense {
	v, draw := make([]float64, p*d), make([]float32, p)
	for k := range d {
		normals.Fill(draw)
		for j, g := range draw {
			v[j*d+k] = float64(g) / math.Sqrt(float64(d))
		}
	}
	return matrix.NewDense(p, d, v)
}

// mostFormed is the maximum number of elements of a product that is formed: 80
// MB.
const mostFormed = 1e7

// projected returns the problem of the smoothed hinge on the products of u, rows in d dimensions,
// with a random projection g. Steps have m dual and q primal coordinates. DSPDC and SPDC are
// Algorithm 2. SDCA has to multiply by the factors with all of x in every step, as in table 1.
//
// If the product is small enough, two comparisons are added that are not in the paper: the methods
// on the product formed beforehand, and, if the exact Λ is known, DSPDC with it instead of the
// paper's choice of mqR²/p.
func projected(figure, title string, u, g *matrix.Dense, b []float64, m, q int, l1, l2 float64) *contest {
	a := matrix.NewFactored(u, g)
	n, p := a.Dims()
	all := float64(m) * slices.Max(matrix.SquaredNorms(a))
	entry := func(name string, a matrix.Matrix, c optim.Config) entry {
		problem := &optim.Problem{A: a, Targets: b, Loss: loss.SmoothedHinge{}, L2: l2, L1: l1}
		return entry{name, func(ctx context.Context, c optim.Config) (*optim.Solution, error) {
			return optim.Solve(ctx, problem, c, optim.Start{})
		}, c}
	}
	dspdc := optim.Config{Primal: q, Dual: m, Scale: all * float64(q) / float64(p)}
	spdc, sdca := optim.Config{Method: optim.SPDC, Dual: m, Scale: all}, optim.Config{Method: optim.SDCA, Dual: m}
	c := &contest{figure: figure, title: title, times: 1}
	c.entries = append(c.entries, entry("DSPDC", a, dspdc))
	if n*p > mostFormed {
		c.entries = append(c.entries, entry("SPDC", a, spdc), entry("SDCA", a, sdca))
		return c
	}
	product := make([]float64, n*p)
	for i := range n {
		a.Add(product[i*p:(i+1)*p], i, 1)
	}
	formed := matrix.NewDense(n, p, product)
	var exact bool
	if dspdc.Scale, exact = optim.Scale(formed, q, m); exact {
		c.entries = append(c.entries, entry("DSPDC, exact Λ", a, dspdc))
	}
	c.entries = append(c.entries,
		entry("SPDC", a, spdc),
		entry("SDCA", a, sdca),
		entry("SPDC, A formed", formed, spdc),
		entry("SDCA, A formed", formed, sdca),
		entry("SVRG, A formed", formed, optim.Config{Method: optim.SVRG}),
	)
	return c
}
