package dsg

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// NoveltyReport compares the detection of novelties in a stream with a one-class support vector
// machine that has many rows at once: the application of section 3.
type NoveltyReport struct {
	Stream   string    `json:"stream"`
	Nu       float64   `json:"nu"`
	Rows     int       `json:"rows"`      // number of graded rows, in each order
	Flagged  []float64 `json:"flagged"`   // share of flagged rows, for each order
	AUC      []float64 `json:"auc"`       // for each order
	BatchAUC []float64 `json:"batch_auc"` // AUC of the batch solver, for each order
}

// orders is the number of orders of the rows in the experiments of section 3.
const orders = 3

// novel is a stream of rows, of which some are novelties. The rows from index from on are graded.
// The batch solver gets the rows from train up to till.
type novel struct {
	name        string
	dim         int
	x           []float64
	novel       []bool
	from        int
	train, till int
}

func (s *novel) row(i int) []float64 { return s.x[i*s.dim : (i+1)*s.dim] }

func (s *novel) add(x []float64, novelty bool) {
	s.x, s.novel = append(s.x, x...), append(s.novel, novelty)
}

// blobs returns rows of two round clusters. One row in 50 is far from both clusters. If the
// clusters move, they do so after 2,500 rows, and rows are graded from 2,500 rows later on.
func blobs(seed uint64, move bool) *novel {
	r := rand.New(rand.NewPCG(seed, 2))
	s, before := &novel{name: "two blobs", dim: 2, from: 1250, till: 1250}, 4000
	rows := before
	if move {
		before, rows = 2500, 7500
		s.name, s.from, s.train, s.till = "two blobs after they moved", 5000, before, before+noveltyWindow
	}
	for i := range rows {
		shift := 0.0
		if i >= before {
			shift = 9
		}
		var x [2]float64
		far := r.IntN(50) == 0
		if far {
			for near := true; near; near = math.Hypot(x[0]-4, x[1]-4) <= 4 || math.Hypot(x[0]+4, x[1]+4) <= 4 {
				x[0], x[1] = r.Float64()*24-12, r.Float64()*24-12
			}
		} else {
			at := 4 * float64(2*r.IntN(2)-1)
			x[0], x[1] = at+r.NormFloat64(), at+r.NormFloat64()
		}
		s.add([]float64{x[0] + shift, x[1] - shift}, far)
	}
	return s
}

// novelties returns streams of a classification set, with at most that many rows for each set of
// normal classes. The more frequent class is normal if there are two, and the first fifth of the
// classes if there are more. About 5 % of the rows are of other classes. With more than two classes
// there is a second stream, which changes to the next fifth of the classes half way.
func (s *Rows) novelties(seed uint64, most int) (streams []*novel) {
	counts := []int{}
	for _, y := range s.Labels {
		for len(counts) <= y.Class {
			counts = append(counts, 0)
		}
		counts[y.Class]++
	}
	order := rand.New(rand.NewPCG(seed, 5)).Perm(len(s.Labels))
	part := func(to *novel, normal func(class int) bool) {
		usual := 0
		for c, n := range counts {
			if normal(c) {
				usual += n
			}
		}
		every, others := max(1, 19*(len(s.Labels)-usual)/max(1, usual)), 0
		end := len(to.novel) + most
		for _, i := range order {
			is := !normal(s.Labels[i].Class)
			if len(to.novel) == end {
				break
			}
			if is {
				if others++; (others-1)%every != 0 {
					continue
				}
			}
			to.add(s.X[i*s.Dim:(i+1)*s.Dim], is)
		}
	}
	n := len(counts)
	if n < 2 {
		return nil
	}
	if n == 2 {
		usual := 0
		if counts[1] > counts[0] {
			usual = 1
		}
		one := &novel{name: s.Name, dim: s.Dim}
		part(one, func(c int) bool { return c == usual })
		one.from = len(one.novel) / 2
		one.till = one.from
		return []*novel{one}
	}
	fifth := max(1, n/5)
	one, two := &novel{name: s.Name, dim: s.Dim}, &novel{name: s.Name + ", other classes from the middle on", dim: s.Dim}
	for _, of := range []*novel{one, two} {
		part(of, func(c int) bool { return c < fifth })
	}
	one.from = len(one.novel) / 2
	one.till = one.from
	two.train = len(two.novel)
	part(two, func(c int) bool { return c >= fifth && c < 2*fifth })
	two.from = two.train + min(noveltyWindow, (len(two.novel)-two.train)/2)
	two.till = two.from
	return []*novel{one, two}
}

// noveltyWindow is the number of recent rows that the algorithm one-class knows.
const noveltyWindow = 2048

// detect streams the rows through a learner. It returns the scores of the graded rows, and the
// share of them that is flagged.
func (s *novel) detect(ctx context.Context, nu float64) (scores []float64, flagged float64, err error) {
	l, err := learner.New(learner.Config{Task: learner.Novelty, Nu: nu})
	if err != nil {
		return nil, 0, err
	}
	n, flags := len(s.novel), 0
	var b learner.Batch
	for at := 0; at < n; {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		b.Reset(s.dim)
		for i := at; i < min(at+64, n); i++ {
			b.Append(s.row(i), learner.Label{Task: learner.Novelty}, 1)
		}
		p := l.Predict(&b)
		for i := range p.Len() {
			if at+i < s.from {
				continue
			}
			scores = append(scores, p.Row(i)[0])
			if learner.Novel(p.Row(i)) {
				flags++
			}
		}
		at += p.Len()
		l.Learn(p)
	}
	return scores, float64(flags) / float64(n-s.from), nil
}

// clip bounds standardised columns for the batch solver, which gives better results with it.
const clip = 8

// batch returns the scores of the batch solver for the graded rows. Columns are standardised, and
// the width of the kernel is the one that scikit-learn calls scale.
func (s *novel) batch(nu float64) (scores []float64) {
	d, n := s.dim, float64(s.till-s.train)
	center, factor := make([]float64, d), make([]float64, d)
	for j := range d {
		for i := s.train; i < s.till; i++ {
			center[j] += s.x[i*d+j] / n
		}
		for i := s.train; i < s.till; i++ {
			factor[j] += (s.x[i*d+j] - center[j]) * (s.x[i*d+j] - center[j]) / n
		}
		if factor[j] = math.Sqrt(factor[j]); factor[j] > 0 {
			factor[j] = 1 / factor[j]
		}
	}
	z := make([]float64, len(s.x))
	for i, v := range s.x {
		z[i] = max(-clip, min(clip, (v-center[i%d])*factor[i%d]))
	}
	train := z[s.train*d : s.till*d]
	mean, variance := 0.0, 0.0
	for _, v := range train {
		mean += v / float64(len(train))
	}
	for _, v := range train {
		variance += (v - mean) * (v - mean) / float64(len(train))
	}
	m := newOneClass(train, d, math.Sqrt(float64(d)*max(variance, 1e-12)/2), nu)
	for i := s.from; i < len(s.novel); i++ {
		scores = append(scores, m.score(z[i*d:(i+1)*d]))
	}
	return scores
}

// auc returns the area under the ROC curve: the share of pairs of a novel row and another row in
// which the novel row has the higher score. Pairs of equal scores count half.
func (s *novel) auc(scores []float64) float64 {
	of := make([]int, len(scores))
	for i := range of {
		of[i] = i
	}
	slices.SortFunc(of, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	below, area, all := 0.0, 0.0, 0.0
	for from := 0; from < len(of); {
		novel, other, to := 0.0, 0.0, from
		for ; to < len(of) && scores[of[to]] == scores[of[from]]; to++ {
			if s.novel[s.from+of[to]] {
				novel++
			} else {
				other++
			}
		}
		area += novel * (below + other/2)
		below, all, from = below+other, all+novel, to
	}
	return area / (all * below)
}

// novelties runs the experiment on the blobs, for three values of ν, and on classification sets.
func novelties(ctx context.Context, sets []*Rows, full bool, progress func(string)) (reports []*NoveltyReport, err error) {
	rates, most := []float64{0.05, 0.1, 0.2}, 8000
	add := func(of []*novel, nu float64) error {
		r := &NoveltyReport{Stream: of[0].name, Nu: nu, Rows: len(of[0].novel) - of[0].from}
		for i, s := range of {
			progress(fmt.Sprintf("section 3: novelties of %s, ν = %v, order %d of %d", s.name, nu, i+1, len(of)))
			scores, flagged, err := s.detect(ctx, nu)
			if err != nil {
				return err
			}
			r.Flagged, r.AUC, r.BatchAUC = append(r.Flagged, flagged), append(r.AUC, s.auc(scores)), append(r.BatchAUC, s.auc(s.batch(nu)))
		}
		reports = append(reports, r)
		return nil
	}
	for _, move := range []bool{false, true} {
		for _, nu := range rates {
			var of []*novel
			for seed := range uint64(orders) {
				of = append(of, blobs(seed+1, move))
			}
			if err := add(of, nu); err != nil {
				return nil, err
			}
		}
	}
	if !full {
		rates, most = rates[1:2], 4000
	}
	for _, set := range sets {
		var streams [][]*novel
		for seed := range uint64(orders) {
			for k, s := range set.novelties(seed+1, most) {
				if k == len(streams) {
					streams = append(streams, nil)
				}
				streams[k] = append(streams[k], s)
			}
		}
		for _, of := range streams {
			for _, nu := range rates {
				if err := add(of, nu); err != nil {
					return nil, err
				}
			}
		}
	}
	return reports, nil
}

func writeNovelties(b *strings.Builder, reports []*NoveltyReport) {
	fmt.Fprintf(b, "3: novelty detection, %d orders, mean ± deviation\n%-48s %5s %15s %15s %15s", orders, "", "ν", "flagged", "AUC", "of batch SVM")
	for _, r := range reports {
		fmt.Fprintf(b, "\n%-48s %5v %15s %15s %15s", r.Stream, r.Nu, spread(r.Flagged), spread(r.AUC), spread(r.BatchAUC))
	}
}

// spread writes the mean and the standard deviation of a sample.
func spread(v []float64) string {
	mean, squares := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return fmt.Sprintf("%.4f ± %.4f", mean, math.Sqrt(squares/max(1, float64(len(v)-1))))
}
