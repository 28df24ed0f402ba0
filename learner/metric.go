package learner

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// MetricFile is the content of a metric file, as JSON. For inputs that are scaled first, (x-Center)∘Scale, the squared distance of x and y is (x-y)ᵀM(x-y)
// with M = Shared, or for rows of a key that is in Own, M = Shared + Own[key].
type MetricFile struct {
	Columns []string           `json:"columns"`
	Center  Numbers            `json:"center"`
	Scale   Numbers            `json:"scale"`
	Shared  Numbers            `json:"shared"` // columns × columns, row-major
	Own     map[string]Numbers `json:"own"`    // likewise
}

// Numbers are finite, as JSON has them: encoding/json alone takes null for 0.
type Numbers []float64

// UnmarshalJSON refuses null in place of a number.
func (n *Numbers) UnmarshalJSON(b []byte) error {
	var all []*float64
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*n = make(Numbers, len(all))
	for i, v := range all {
		if v == nil {
			return fmt.Errorf("element %d of %d is null", i+1, len(all))
		}
		(*n)[i] = *v
	}
	return nil
}

// Metric is a metric of the inputs that is given, where otherwise the warm-up
// learns one: rows are multiplied by the symmetric square root of M, so that what
// the model sees has it as the Euclidean distance. The roots, and not Cholesky's
// factors, bring the rows of similar metrics to similar places.
type Metric struct {
	hash          [sha256.Size]byte // of the file
	Columns       []string          // nil if it comes from a State, which has no schema
	center, scale []float64
	roots         []float64      // dim × dim: the shared metric's, followed by those of the keys
	keys          []string       // sorted
	index         map[string]int // of a key's root in roots; the shared one's is 0
}

const (
	maxRootNumbers = 64 << 20 / 8 // numbers
	minRootSquare  = 1e-9         // squared number in one of the roots, at least
	maxEigenvalue  = 1e9          // eigenvalue of a metric
	asymmetry      = 1e-9         // and how far below 0 an eigenvalue may be, both relative to the largest
)

// ParseMetric reads a MetricFile.
func ParseMetric(text []byte) (*Metric, error) {
	var f MetricFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a metric file: want a JSON object with columns, center, scale, shared and own, and finite numbers: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected data after the JSON object of the metric")
	}
	n := len(f.Columns)
	switch {
	case n == 0:
		return nil, errors.New("columns is empty or missing: want the names of the inputs, in order")
	case len(f.Center) != n || len(f.Scale) != n:
		return nil, fmt.Errorf("center has %d numbers and scale %d, want one for each of the %d columns", len(f.Center), len(f.Scale), n)
	case float64(n)*float64(n)*float64(1+len(f.Own)) > maxRootNumbers:
		return nil, fmt.Errorf("%d metrics of %d columns are too large: want at most %d numbers", 1+len(f.Own), n, maxRootNumbers)
	}
	for j, s := range f.Scale {
		if !(s > 0) {
			return nil, fmt.Errorf("scale of column %q is %v, want more than 0", f.Columns[j], s)
		}
	}
	m := &Metric{hash: sha256.Sum256(text), Columns: f.Columns, center: f.Center, scale: f.Scale}
	root, err := rootOf(f.Shared, n)
	if err != nil {
		return nil, fmt.Errorf("shared matrix %w", err)
	}
	m.roots = root
	for key := range f.Own {
		m.keys = append(m.keys, key)
	}
	slices.Sort(m.keys)
	for _, key := range m.keys {
		if len(f.Own[key]) != n*n {
			return nil, fmt.Errorf("own matrix of key %q has %d numbers, want %d × %d", key, len(f.Own[key]), n, n)
		}
		sum := slices.Clone(f.Shared)
		vec.Axpy(1, f.Own[key], sum)
		if root, err = rootOf(sum, n); err != nil {
			return nil, fmt.Errorf("shared + own matrix of key %q %w", key, err)
		}
		m.roots = append(m.roots, root...)
	}
	if !slices.ContainsFunc(m.roots, func(v float64) bool { return v*v >= minRootSquare }) {
		return nil, errors.New("all distances are 0, or nearly: the shared matrix and the sums with each key's own matrix are 0")
	}
	m.find()
	return m, nil
}

// find makes the index of the keys.
func (m *Metric) find() {
	m.index = map[string]int{}
	for i, key := range m.keys {
		m.index[key] = i + 1
	}
}

// rootOf returns the symmetric square root of a, n × n. Its errors say of a what
// it does.
func rootOf(a []float64, n int) ([]float64, error) {
	if len(a) != n*n {
		return nil, fmt.Errorf("has %d numbers, want %d × %d", len(a), n, n)
	}
	largest := 0.0
	for _, v := range a {
		largest = max(largest, math.Abs(v))
	}
	for i := range n {
		for j := range i {
			if math.Abs(a[i*n+j]-a[j*n+i]) > asymmetry*largest {
				return nil, fmt.Errorf("is not symmetric: %v in row %d, column %d, but %v in the transposed position", a[i*n+j], i+1, j+1, a[j*n+i])
			}
		}
	}
	values, vectors := make([]float64, n), make([]float64, n*n)
	if !vec.Eigen(values, vectors, slices.Clone(a), n) {
		return nil, errors.New("has no finite eigenvalues")
	}
	least, top := values[0], values[n-1]
	switch {
	case top > maxEigenvalue:
		return nil, fmt.Errorf("has the largest eigenvalue %.3g, want at most %g", top, maxEigenvalue)
	case least < -asymmetry*top:
		return nil, fmt.Errorf("is not positive semidefinite: its smallest eigenvalue is %.3g", least)
	}
	root := make([]float64, n*n)
	for k, v := range values {
		u := vectors[k*n : (k+1)*n]
		r := math.Sqrt(max(0, v))
		for i := range n {
			vec.Axpy(float64(r*u[i]), u, root[i*n:(i+1)*n])
		}
	}
	return root, nil
}

func (m *Metric) dim() int { return len(m.center) }

// whole reports whether m has its numbers, and not the hash alone.
func (m *Metric) whole() bool { return m.roots != nil }

// Keys is for how many keys m has metrics of their own.
func (m *Metric) Keys() int { return len(m.keys) }

// String is the hash of the file that m was read from.
func (m *Metric) String() string { return "sha256:" + hex.EncodeToString(m.hash[:]) }

// MarshalText writes what String returns, which identifies m in a model log.
func (m *Metric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText writes. What it makes is known by its hash
// only: Restore takes it, because a State has the numbers, and New does not.
func (m *Metric) UnmarshalText(text []byte) error {
	digits, ok := bytes.CutPrefix(text, []byte("sha256:"))
	if !ok || len(digits) != 2*sha256.Size {
		return fmt.Errorf("%q is not the hash of a metric", text)
	}
	*m = Metric{}
	_, err := hex.Decode(m.hash[:], digits)
	return err
}

// ErrMetric refuses rows that a Metric is not for.
var ErrMetric = errors.New("the metric does not match the input columns")

func (m *Metric) check(columns []string) error {
	if m == nil || slices.Equal(m.Columns, columns) {
		return nil
	}
	return fmt.Errorf("%w: the metric has %s, the rows have %s", ErrMetric, listed(m.Columns), listed(columns))
}

// listed is some names on one line.
func listed(names []string) string {
	const most = 8
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += ", …"
	}
	return fmt.Sprintf("%d (%s)", len(names), text)
}

// over fills dst with the first n rows of b as m has them, and returns it.
func (m *Metric) apply(dst, b *Batch, n int) *Batch {
	d := m.dim()
	dst.Reset(d)
	scaled, z := make([]float64, d), make([]float64, d)
	for i := range n {
		for j, v := range b.X(i) {
			if scaled[j] = 0; v == v { // a missing value is at the centre
				scaled[j] = warmup.Clipped((target.Bounded(v) - m.center[j]) * m.scale[j])
			}
		}
		root := m.roots[m.index[b.keys[i]]*d*d:]
		for j := range z {
			z[j] = vec.Dot(root[j*d:(j+1)*d], scaled)
		}
		dst.Append(z, b.labels[i], b.weights[i])
	}
	return dst
}

// save puts m into the serving part of a State, if there is a metric.
func (m *Metric) save(a *state.Arrays) {
	if m == nil {
		return
	}
	var keys []byte
	var sizes []int64
	for _, key := range m.keys {
		keys = append(keys, key...)
		sizes = append(sizes, int64(len(key)))
	}
	hash := m.String()
	state.Put(a, "given.hash", len(hash), []byte(hash))
	state.Put(a, "given.center", len(m.center), m.center)
	state.Put(a, "given.scale", len(m.scale), m.scale)
	state.Put(a, "given.roots", len(m.center), m.roots)
	state.Put(a, "given.keys", 1, keys)
	state.Put(a, "given.sizes", 1, sizes)
}

// loadMetric reads what save wrote; nil if there is no metric.
func loadMetric(s *state.Reader) *Metric {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "given.hash" {
		return nil
	}
	m := new(Metric)
	if err := m.UnmarshalText([]byte(state.TakeString(s, "given.hash"))); err != nil {
		s.Fail("%v", err)
		return nil
	}
	if len(s.In) == 0 {
		s.Fail("given.center is missing")
		return nil
	}
	d := s.In[0].Shape[1]
	m.center = state.Take[float64](s, "given.center", 1, d)
	m.scale = state.Take[float64](s, "given.scale", 1, d)
	m.roots = state.Take[float64](s, "given.roots", state.AnySize, d)
	keys := state.Take[byte](s, "given.keys", state.AnySize, 1)
	sizes := state.Take[int64](s, "given.sizes", state.AnySize, 1)
	s.Require(d > 0 && len(m.roots) == (1+len(sizes))*d*d, "a metric with %d inputs and %d keys has %d numbers", d, len(sizes), len(m.roots))
	if s.Err != nil {
		return nil
	}
	for _, n := range sizes {
		if n < 0 || n > int64(len(keys)) || len(m.keys) > 0 && string(keys[:n]) <= m.keys[len(m.keys)-1] {
			s.Fail("given.sizes: invalid size %d, or keys out of order", n)
			return nil
		}
		m.keys, keys = append(m.keys, string(keys[:n])), keys[n:]
	}
	s.Require(len(keys) == 0, "given.keys is longer than its sizes")
	for j, v := range m.scale {
		s.Require(v > 0, "the scale of column %d is %v", j, v)
	}
	for _, v := range m.roots {
		s.Require(math.Abs(v) <= maxEigenvalue, "an element of the metric's square root is %v", v)
	}
	m.find()
	return m
}
