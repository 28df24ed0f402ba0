// Package windows adds statistics of earlier rows with the same key to a row: how many there were,
// what their values were, how many distinct ones there were, and how long ago the last one was. The
// weight of an earlier row halves with every half-life of event time.
//
// The statistics of a row cover the rows before it, in the order of arrival. The row itself is
// added afterwards. They depend on the rows of its key alone, as long as no key has been evicted.
//
// # Time
//
// A row that is older than the newest row of its key, but not by more than the lateness, is added
// with the weight that it would have if it had arrived in time. A row that is older than that is
// not added.
//
// A row that is newer than the newest row of its key by more than the longest half-life, or by more
// than the lateness if that is longer, is held. The next row of the key decides about it: if that
// row is older than the held row by more than the same time, the held row is dropped, otherwise it
// is added. The first row of a key is held as well. So no single time, however wrong, can discard
// what is known of a key. After staleRows successive rows that were too old, the key starts again
// with the last of them.
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
	Sum                      // sum of the values
	Mean                     // mean of the values; missing before the first
	Deviation                // standard deviation of the values; missing before the first
	Distinct                 // weight of the distinct values of another column, each as of its last row
	Since                    // ln(1 + seconds since the newest row); missing before the first
	features
)

var names = [...]string{"count", "sum", "mean", "deviation", "distinct", "since"}

// String returns the name of f.
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

// Group defines the features of one key. Columns are indices into raw rows.
type Group struct {
	Key      int `json:"key"`
	Time     int `json:"time"`     // seconds
	Of       int `json:"of"`       // column of the values for Sum, Mean and Deviation; -1 without these
	Distinct int `json:"distinct"` // column whose distinct values Distinct counts; -1 without it

	HalfLives []float64 `json:"half_lives"` // seconds
	Features  []Feature `json:"features"`   // in ascending order
	// columns for the features: for one half-life after the other, those of all features except
	// Since, and then that of Since
	To       []int   `json:"to"`
	Lateness float64 `json:"lateness"` // seconds
	MaxKeys  int     `json:"max_keys"`
}

// Bounds of a Group.
const (
	MaxHalfLives = 16
	MaxKeys      = 10_000_000
	minSeconds   = 1e-9 // of a half-life
	maxSeconds   = 1e12 // of a half-life or of the lateness
	maxGroups    = 64
)

// Layout has all groups. It never changes.
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

// Counts are the numbers of rows by what happened to them.
type Counts struct {
	Rows    int64 // added in time, or held
	Late    int64 // added with the weight of an earlier row
	Stale   int64 // too old, not added
	Dropped int64 // held, and contradicted by the next row of the key
	NoKey   int64 // without a key or a time
	Evicted int64 // keys that were evicted
}

func missing(v float64) bool { return math.IsNaN(v) }
