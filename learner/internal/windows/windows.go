// Package windows gives rows statistics of the earlier rows of their key: how many there were,
// what their values were, how many different ones, and how long ago the last one was. Earlier
// rows count with a weight that halves with every half-life of event time.
//
// The statistics of a row are those of the rows before it, in their order, and then the row
// is added. They depend on the rows of its key alone, as long as no key has been evicted.
//
// # Time
//
// A row that is up to the lateness older than the newest row of its key is added with the
// weight that it would have if it had come in time. An older one is not added. A row that
// is newer by more than the longest half-life, or the lateness if that is longer, is held:
// the next row of the key adds it, unless that is older by more than so much, and drops it
// otherwise. The first row of a key is held, too. So no single time, however wrong, can
// discard what is known of a key. After staleRows rows in succession that were too old, the
// key begins again with the last of them.
package windows

import (
	"fmt"
	"math"
	"slices"
)

// Feature is one of the statistics.
type Feature int

// The features. Their order is part of the snapshot format.
const (
	Count     Feature = iota // weight of the rows
	Sum                      // of the values
	Mean                     // of the values; missing before the first
	Deviation                // standard deviation of the values; missing before the first
	Distinct                 // weight of the different values of another column, each as of its last row
	Since                    // ln(1 + seconds since the newest row); missing before the first
	features
)

var names = [...]string{"count", "sum", "mean", "deviation", "distinct", "since"}

func (f Feature) String() string {
	if f < 0 || f >= features {
		return "invalid"
	}
	return names[f]
}

// ParseFeature reads the form that String writes.
func ParseFeature(s string) (Feature, error) {
	if i := slices.Index(names[:], s); i >= 0 {
		return Feature(i), nil
	}
	return 0, fmt.Errorf("unknown feature %q", s)
}

// Group is the features of one key. Columns are those of raw rows.
type Group struct {
	Key      int `json:"key"`
	Time     int `json:"time"`     // seconds
	Of       int `json:"of"`       // values of Sum, Mean and Deviation; -1 without these
	Distinct int `json:"distinct"` // values that Distinct tells apart; -1 without it

	HalfLives []float64 `json:"half_lives"` // seconds
	Features  []Feature `json:"features"`   // in ascending order
	To        []int     `json:"to"`         // columns of the features but Since of each half-life, one after the other, then of Since
	Lateness  float64   `json:"lateness"`   // seconds
	MaxKeys   int       `json:"max_keys"`
}

// Bounds of a Group.
const (
	MaxHalfLives = 16
	MaxKeys      = 10_000_000
	minSeconds   = 1e-9 // of a half-life
	maxSeconds   = 1e12 // of a half-life or of the lateness
	maxGroups    = 64
)

// Layout is all groups. It never changes.
type Layout struct {
	Groups []Group `json:"groups"`
}

// Equal reports whether l and o are the same.
func (l *Layout) Equal(o *Layout) bool {
	return slices.EqualFunc(l.Groups, o.Groups, func(a, b Group) bool {
		return a.Key == b.Key && a.Time == b.Time && a.Of == b.Of && a.Distinct == b.Distinct && a.Lateness == b.Lateness && a.MaxKeys == b.MaxKeys &&
			slices.Equal(a.HalfLives, b.HalfLives) && slices.Equal(a.Features, b.Features) && slices.Equal(a.To, b.To)
	})
}

// Check returns an error unless l is valid for rows of dim values.
func (l *Layout) Check(dim int) error {
	if len(l.Groups) == 0 || len(l.Groups) > maxGroups {
		return fmt.Errorf("windows: %d groups, want 1 to %d", len(l.Groups), maxGroups)
	}
	to := map[int]bool{}
	for i := range l.Groups {
		if err := l.Groups[i].check(dim, to); err != nil {
			return err
		}
	}
	for _, g := range l.Groups {
		for _, from := range []int{g.Key, g.Time, g.Of, g.Distinct} {
			if to[from] {
				return fmt.Errorf("windows: column %d is an input and a result", from)
			}
		}
	}
	return nil
}

func (g *Group) check(dim int, to map[int]bool) error {
	within := func(column int) bool { return column >= 0 && column < dim }
	if !within(g.Key) || !within(g.Time) || g.Of != -1 && !within(g.Of) || g.Distinct != -1 && !within(g.Distinct) {
		return fmt.Errorf("windows: column %d, %d, %d or %d of %d", g.Key, g.Time, g.Of, g.Distinct, dim)
	}
	if !(g.Lateness >= 0 && g.Lateness <= maxSeconds) || g.MaxKeys < 1 || g.MaxKeys > MaxKeys {
		return fmt.Errorf("windows: a lateness of %v s, %d keys", g.Lateness, g.MaxKeys)
	}
	if len(g.HalfLives) == 0 || len(g.HalfLives) > MaxHalfLives {
		return fmt.Errorf("windows: %d half-lives, want 1 to %d", len(g.HalfLives), MaxHalfLives)
	}
	for _, h := range g.HalfLives {
		if !(h >= minSeconds && h <= maxSeconds) {
			return fmt.Errorf("windows: a half-life of %v s", h)
		}
	}
	since := 0
	for i, f := range g.Features {
		if f < 0 || f >= features || i > 0 && f <= g.Features[i-1] || f == Distinct && g.Distinct < 0 || (f == Sum || f == Mean || f == Deviation) && g.Of < 0 {
			return fmt.Errorf("windows: feature %v", f)
		}
		if f == Since {
			since = 1
		}
	}
	if len(g.Features) == 0 || len(g.To) != (len(g.Features)-since)*len(g.HalfLives)+since {
		return fmt.Errorf("windows: %d columns for %d features", len(g.To), len(g.Features))
	}
	for _, column := range g.To {
		if !within(column) || to[column] {
			return fmt.Errorf("windows: column %d has two features, or is none", column)
		}
		to[column] = true
	}
	return nil
}

// Counts says what became of rows.
type Counts struct {
	Rows    int64 // added in time, or held
	Late    int64 // added with the weight of an earlier row
	Stale   int64 // too old
	Dropped int64 // held, and contradicted by the next row of the key
	NoKey   int64 // without a key or a time
	Evicted int64 // keys
}

func missing(v float64) bool { return math.IsNaN(v) }
