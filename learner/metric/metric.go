// Package metric reads learned metrics of the inputs. A learner can use one in place of the column
// weights of its warm-up.
package metric

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// Metric is a given metric of the inputs, which replaces the column weights of the warm-up. Rows
// are multiplied by the symmetric square root of M, so that the Euclidean distance of the results
// is the distance by the metric. Symmetric square roots, unlike Cholesky factors, map the rows of
// similar metrics to similar places.
type Metric struct {
	hash          [sha256.Size]byte // of the file
	Columns       []string          // nil if the Metric comes from a State, which has no schema
	center, scale []float64
	roots         []float64      // dim × dim each: the root of the shared metric, followed by those of the keys
	keys          []string       // sorted
	index         map[string]int // index of a key's root in roots; the shared root has index 0
}

// find builds the index of the keys.
func (m *Metric) find() {
	m.index = map[string]int{}
	for i, key := range m.keys {
		m.index[key] = i + 1
	}
}

// Dim returns the number of inputs.
func (m *Metric) Dim() int { return len(m.center) }

// Whole reports whether m has its numbers and not only the hash.
func (m *Metric) Whole() bool { return m.roots != nil }

// SameFile reports whether m and o come from files with the same content.
func (m *Metric) SameFile(o *Metric) bool { return m != nil && o != nil && m.hash == o.hash }

// Keys returns the number of keys that have a metric of their own.
func (m *Metric) Keys() int { return len(m.keys) }

// String returns the hash of the file that m was read from.
func (m *Metric) String() string { return "sha256:" + hex.EncodeToString(m.hash[:]) }

// MarshalText writes what String returns, which identifies m in a model log.
func (m *Metric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText writes. The result has only the hash. Restore accepts it,
// because a State has the numbers; New does not.
func (m *Metric) UnmarshalText(text []byte) error {
	digits, ok := bytes.CutPrefix(text, []byte("sha256:"))
	if !ok || len(digits) != 2*sha256.Size {
		return fmt.Errorf("%q is not the hash of a metric", text)
	}
	*m = Metric{}
	_, err := hex.Decode(m.hash[:], digits)
	return err
}

// ErrColumns means that rows do not have the columns of a Metric.
var ErrColumns = errors.New("the metric does not match the input columns")

// Check returns ErrColumns unless m is for rows with these columns. A nil Metric accepts any
// columns.
func (m *Metric) Check(columns []string) error {
	if m == nil || slices.Equal(m.Columns, columns) {
		return nil
	}
	return fmt.Errorf("%w: the metric has %s, the rows have %s", ErrColumns, listed(m.Columns), listed(columns))
}

// listed returns the number of names followed by the first few of them.
func listed(names []string) string {
	const most = 8
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += ", …"
	}
	return fmt.Sprintf("%d (%s)", len(names), text)
}

// Apply sets dst to the row x of a key, transformed by the metric. scratch must have room for a
// row.
func (m *Metric) Apply(dst, scratch, x []float64, key string) {
	d := m.Dim()
	scaled := scratch[:d]
	for j, v := range x {
		if scaled[j] = 0; v == v { // a missing value is at the centre
			scaled[j] = warmup.Clipped((target.Bounded(v) - m.center[j]) * m.scale[j])
		}
	}
	root := m.roots[m.index[key]*d*d:]
	for j := range dst {
		dst[j] = vec.Dot(root[j*d:(j+1)*d], scaled)
	}
}
