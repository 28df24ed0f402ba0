package warmup

import (
	"cmp"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// sample is some rows of the warm-up and their targets.
type sample struct {
	version      Version
	dim, targets int
	classes      bool      // the targets are those of classes
	x            []float64 // scaled rows
	y            []float64 // rows × targets, each column with mean 0
}

func (s sample) rows() int { return len(s.x) / s.dim }

// slice returns the rows [from, to) of s, with y centred again.
func (s sample) slice(from, to int) sample {
	t := sample{version: s.version, dim: s.dim, targets: s.targets, classes: s.classes, x: s.x[from*s.dim : to*s.dim]}
	t.y = append(t.y, s.y[from*s.targets:to*s.targets]...)
	t.center()
	return t
}

func (s sample) center() {
	n := s.rows()
	for c := range s.targets {
		mean := 0.0
		for i := range n {
			mean += s.y[i*s.targets+c]
		}
		mean /= float64(n)
		for i := range n {
			s.y[i*s.targets+c] -= mean
		}
	}
}

// label sets the targets of the rows of s: standardised labels, or ±1 for each class,
// or for the second of two.
func (s *sample) label(f *Fit, labels []target.Label, task target.Task) {
	s.targets, s.classes = 1, task == target.Classification
	classes := 0
	for _, y := range labels {
		classes = max(classes, y.Class+1)
	}
	switch {
	case task == target.Regression:
		s.targets = len(f.Scales)
	case classes > 2:
		s.targets = classes
	}
	s.y = make([]float64, len(labels)*s.targets)
	for i, y := range labels {
		for c := range s.targets {
			v := -1.0
			switch {
			case task == target.Regression:
				v = max(-target.MaxResidual, min(target.MaxResidual, (target.Bounded(y.At(c))-f.Scales[c].Mean)/f.Scales[c].Deviation))
			case s.targets == 1 && y.Class == 1 || s.targets > 1 && y.Class == c:
				v = 1
			}
			s.y[i*s.targets+c] = v
		}
	}
	if f.inliers != nil && task == target.Regression {
		s.replaceOutliers(f, labels)
	}
	s.center()
	if s.version == First {
		*s = s.mixed(tunedTargets)
		return
	}
	if task == target.Classification {
		s.sortClasses()
	}
	*s = s.mixed(comparedTargets)
}

// replaceOutliers replaces outliers among the targets by the target of the closest row whose target
// is not an outlier. The rows remain, because the choices depend on the number of rows. With the
// mean of the others as their target, they would be noise.
func (s *sample) replaceOutliers(f *Fit, labels []target.Label) {
	for c := range s.targets {
		for i, y := range labels {
			if !f.outlier(y, c) {
				continue
			}
			closest, least := i, math.Inf(1)
			for j, o := range labels {
				if f.outlier(o, c) {
					continue
				}
				d := 0.0
				for l, v := range s.x[i*s.dim : (i+1)*s.dim] {
					e := v - s.x[j*s.dim+l]
					d += float64(e * e)
				}
				if d < least {
					closest, least = j, d
				}
			}
			s.y[i*s.targets+c] = s.y[closest*s.targets+c]
		}
	}
}

const (
	// tunedTargets is the number of scores that the choices are compared on in the
	// Version First; more are mixed, see mixed. Chosen by trial.
	tunedTargets = 16

	// comparedTargets is the same in later versions, where column weights are computed
	// for all of them, too. It bounds the time for many classes.
	comparedTargets = 32
)

// sortClasses sorts the targets of s, which are classes, so that their order does not
// depend on their numbers: by their rows, the most first, and then by their first row. It
// leaves out classes without a row.
func (s *sample) sortClasses() {
	n, k := s.rows(), s.targets
	rows, first, order := make([]int, k), make([]int, k), make([]int, k)
	for c := range k {
		order[c], first[c] = c, n
		for i := n - 1; i >= 0; i-- {
			if s.y[i*k+c] > 0 { // 1 less the mean: 0 if all rows are of the class
				rows[c]++
				first[c] = i
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(rows[b]-rows[a], first[a]-first[b])
	})
	for s.targets > 1 && rows[order[s.targets-1]] == 0 {
		s.targets--
	}
	sorted := make([]float64, 0, n*s.targets)
	for i := range n {
		for _, c := range order[:s.targets] {
			sorted = append(sorted, s.y[i*k+c])
		}
	}
	s.y = sorted
}

// mixed returns s with at most that many targets. More are mixed with random signs,
// which keeps the expected sum of squares of any linear function of them, up to a
// factor.
func (s sample) mixed(targets int) sample {
	if s.targets <= targets {
		return s
	}
	n := s.rows()
	signs := make([]float32, targets*s.targets)
	// The purpose of the key is part of the format: it determines the signs.
	vec.NewNormals(vec.Key("metric", uint64(s.targets), 0)).Fill(signs)
	t := sample{version: s.version, dim: s.dim, targets: targets, x: s.x, y: make([]float64, n*targets)}
	for i := range n {
		for c := range targets {
			for k, v := range s.y[i*s.targets : (i+1)*s.targets] {
				if signs[c*s.targets+k] < 0 {
					v = -v
				}
				t.y[i*targets+c] += v
			}
		}
	}
	return t
}

// weighted returns the rows of s, each column times the square root of its weight.
func (s sample) weighted(columnWeights []float64) []float64 {
	z := make([]float64, len(s.x))
	roots := make([]float64, s.dim)
	for j, a := range columnWeights {
		roots[j] = math.Sqrt(a)
	}
	for from := 0; from < len(z); from += s.dim {
		for j, root := range roots {
			z[from+j] = s.x[from+j] * root
		}
	}
	return z
}

// distances returns the squared distances of all pairs of rows of s, a lower
// triangle, under column weights. Their memory may be given to releaseMatrix.
func (s sample) distances(columnWeights []float64) []float64 {
	n := s.rows()
	z := s.weighted(columnWeights)
	d := newMatrix(n)
	vec.Products(d, z, n)
	norms := make([]float64, n)
	for i := range n {
		row := d[i*n : i*n+i+1]
		norms[i] = row[i]
		for j, p := range row {
			row[j] = max(0, norms[i]+norms[j]-2*p)
		}
	}
	return d
}

// maxDistances is the largest number of distances whose median is taken before the version Sixth,
// and fewDistances from then on. If there are more distances, evenly spaced ones are taken. The
// median of 4,096 is within a hundredth of that of all.
const maxDistances, fewDistances = 1 << 16, 1 << 12

// minDistance is the squared distance below which rows count as equal.
const minDistance = 1e-12

// median returns the median of the squared distances d of the rows of s that differ, or 1
// if none do.
func (s sample) median(d []float64) float64 {
	n := s.rows()
	most := maxDistances
	if s.version >= Sixth {
		most = fewDistances
	}
	step := 1 + n*(n-1)/2/most
	squares := make([]float64, 0, min(n*(n-1)/2, most)+1)
	next := 0 // in the row
	for i := range n {
		for row := d[i*n : i*n+i]; next < i; next += step {
			if v := row[next]; v > minDistance {
				squares = append(squares, v)
			}
		}
		next -= i
	}
	if len(squares) == 0 {
		return 1
	}
	return Nth(squares, len(squares)/2)
}

// Nth returns the element at index n of the sorted x, and reorders x (quickselect:
// Hoare 1961).
func Nth(x []float64, n int) float64 {
	for len(x) > 16 {
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			x = x[:j+1]
		case n >= i:
			x, n = x[i:], n-i
		default:
			return pivot
		}
	}
	slices.Sort(x)
	return x[n]
}
