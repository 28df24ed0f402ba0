package decode

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/learner"
)

// A pair is the place of a column of type Pair, and those of its two columns.
type pair struct{ at, a, b int }

// splitPair returns the names of the two columns of the pair A*B.
func splitPair(name string) (a, b string, ok bool) {
	a, b, ok = strings.Cut(name, "*")
	return a, b, ok && a != "" && b != "" && a != b && !strings.Contains(b, "*")
}

// pairsOf returns the names of the declared pairs, sorted.
func (c *Config) pairsOf() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Types)) {
		if c.Types[name] == Pair {
			names = append(names, name)
		}
	}
	return names
}

// isPaired reports whether a field is one of the two columns of a pair.
func (c *Config) isPaired(name string) bool {
	for pair, t := range c.Types {
		if a, b, _ := splitPair(pair); t == Pair && (a == name || b == name) {
			return true
		}
	}
	return false
}

// checkPair checks the declaration of a pair.
func (c *Config) checkPair(name string) error {
	a, b, ok := splitPair(name)
	if !ok {
		return fmt.Errorf("input.columns: %s is declared as %s: want the names of two columns, such as origin*carrier", quote(name), Pair)
	}
	for _, part := range []string{a, b} {
		switch t := c.Types[part]; {
		case isExcluded(t) || t == learner.TextColumn.String():
			return fmt.Errorf("input.columns: the pair %s contains %s, which is declared as %s", quote(name), quote(part), t)
		case c.Columns != nil && !slices.Contains(c.Columns, part):
			return fmt.Errorf("input.columns: the pair %s contains %s, which is no column", quote(name), quote(part))
		}
	}
	return nil
}

// lacks returns an error if the columns, which the first record determines, are not those
// of the pairs and the windows.
func (d *Decoder) lacks(columns []string) *Error {
	for _, name := range d.config.pairsOf() {
		a, b, _ := splitPair(name)
		for _, part := range []string{a, b} {
			if !slices.Contains(columns, part) {
				return bad("columns", "the pair %s contains %s, which the first record does not have", quote(name), quote(part))
			}
		}
	}
	for _, name := range d.config.windowFields() {
		if !slices.Contains(columns, name) && !d.config.isSource(name) {
			return bad("columns", "a window is of %s, which the first record does not have", quote(name))
		}
	}
	return nil
}

// setPairs notes the pairs among the columns.
func (d *Decoder) setPairs() {
	d.pairs = nil
	for _, name := range d.config.pairsOf() {
		a, b, _ := splitPair(name)
		at, found := d.column[name]
		i, hasA := d.column[a]
		j, hasB := d.column[b]
		if found && hasA && hasB {
			d.pairs = append(d.pairs, pair{at, i, j})
		}
	}
}

// putPairs sets the columns of the pairs from those of their parts. A pair is missing if
// both are.
func (d *Decoder) putPairs(x []float64) {
	for _, p := range d.pairs {
		x[p.at] = together(x[p.a], x[p.b])
	}
}

func together(a, b float64) float64 {
	if a != a && b != b {
		return math.NaN()
	}
	var key [16]byte
	for i, v := range [...]float64{a, b} {
		if v != v {
			v = math.NaN() // the bits of one of them
		}
		binary.LittleEndian.PutUint64(key[8*i:], math.Float64bits(v+0)) // -0 is 0
	}
	return learner.Category(xxhash.Sum64(key[:]))
}
