package usage

import (
	"slices"
	"testing"
)

// series returns one sample a second. Descriptors follow the pattern that was measured:
// a fault closes connections, and those of some kinds are opened again only when
// they are needed.
func series(faults int, leak func(fault int) Sample) (out []Sample) {
	kinds := []int{13, 15, 14, 17, 13, 19, 16}
	for i := range 30 * (faults + 1) {
		fault := i / 30
		lost := leak(fault)
		n := kinds[fault%len(kinds)]
		if i%30 == 0 { // reconnecting
			n += 5
		}
		out = append(out, Sample{RSS: 60e6 + lost.RSS, Files: n + lost.Files, Goroutines: 10 + n + lost.Goroutines})
	}
	return out
}

// A run is flat whatever connections its faults leave open, and is not if each
// fault costs something for good.
func TestFlatFindsLeaks(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults int
		leak   func(fault int) Sample
		want   bool
	}{
		{"sound, few faults", 3, func(int) Sample { return Sample{} }, true},
		{"sound", 39, func(int) Sample { return Sample{} }, true},
		{"sound, a larger BATCH at the end", 39, func(n int) Sample { return Sample{RSS: int64(n/30) * 20e6} }, true},
		{"two descriptors late in a short run", 3, func(n int) Sample { return Sample{Files: n / 2 * 2} }, true},
		{"a descriptor a fault", 39, func(n int) Sample { return Sample{Files: n} }, false},
		{"a descriptor every third fault", 119, func(n int) Sample { return Sample{Files: n / 3} }, false},
		{"ten descriptors a fault", 3, func(n int) Sample { return Sample{Files: 10 * n} }, false},
		{"two goroutines a fault", 39, func(n int) Sample { return Sample{Goroutines: 2 * n} }, false},
		{"4 MB a fault", 39, func(n int) Sample { return Sample{RSS: int64(n) * 4e6} }, false},
	} {
		if err := Flat(series(c.faults, c.leak), c.faults); (err == nil) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The runs that failed although nothing leaked: 14 descriptors in the second
// quarter, and 17 in the last.
func TestFlatAcceptsConnectionsThatOpenLate(t *testing.T) {
	at := func(n int) []Sample { return slices.Repeat([]Sample{{RSS: 60e6, Files: n, Goroutines: n + 9}}, 30) }
	if err := Flat(slices.Concat(at(15), at(14), at(16), at(17)), 3); err != nil {
		t.Error(err)
	}
}
