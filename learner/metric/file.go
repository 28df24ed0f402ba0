package metric

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// File is the content of a metric file, which is JSON. Inputs are scaled first, to
// (x-Center)∘Scale. The squared distance of x and y is then (x-y)ᵀM(x-y) with M = Shared. For rows
// of a key that is in Own, M = Shared + Own[key].
type File struct {
	Columns []string           `json:"columns"`
	Center  Numbers            `json:"center"`
	Scale   Numbers            `json:"scale"`
	Shared  Numbers            `json:"shared"` // columns × columns, row-major
	Own     map[string]Numbers `json:"own"`    // columns × columns for each key, row-major
}

// Numbers are finite numbers. Unlike a []float64, they do not accept null as 0 in JSON.
type Numbers []float64

// UnmarshalJSON returns an error if a number is null.
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

const (
	maxRootNumbers = 64 << 20 / 8 // maximum number of elements of all matrices of a file
	minRootSquare  = 1e-9         // at least one element of the roots must have a square of at least this
	maxEigenvalue  = 1e9          // largest eigenvalue allowed
	// asymmetry bounds the asymmetry of a matrix, and how far below 0 an eigenvalue may be. It is
	// relative to the largest element or eigenvalue.
	asymmetry = 1e-9
)

// Parse reads a File.
func Parse(text []byte) (*Metric, error) {
	var f File
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

// rootOf returns the symmetric square root of a, n × n. Its error messages are phrased to follow
// the name of the matrix.
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
