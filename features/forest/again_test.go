package forest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// packable returns a sample of rows of the weight 1, of classes, or of as many targets.
func packable(rows, classes, targets int) Sample {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(classes+100*targets)))
	s := Sample{Dim: 6, Classes: classes, Thresholds: packedDraws, Weights: slices.Repeat([]float64{1}, rows)}
	for range rows {
		x := []float32{float32(rng.NormFloat64()), float32(rng.IntN(5)), 7, float32(rng.IntN(2)), float32(rng.ExpFloat64()), float32(3 - 6*rng.IntN(2))}
		s.X = append(s.X, x...)
		if classes > 0 {
			s.Targets = append(s.Targets, float64((int(math.Abs(float64(2*x[0]+x[1]+x[3])))+rng.IntN(2))%classes))
		}
		for k := range targets {
			s.Targets = append(s.Targets, float64(x[0])*float64(k)+float64(x[1])-0.5*float64(x[3])+rng.NormFloat64())
		}
	}
	return s
}

// packables are samples of each number of fields.
func packables() map[string]Sample {
	all := map[string]Sample{}
	for kinds := 1; kinds <= 16; kinds++ {
		all[fmt.Sprint(kinds, " classes")] = packable(300, kinds, 0)
		if kinds <= 11 {
			all[fmt.Sprint(kinds, " targets")] = packable(300, 0, kinds)
		}
	}
	return all
}

// The sums of words are those of the targets of the rows, whatever their kinds.
func TestPackedSumsAreThoseOfTheRows(t *testing.T) {
	for name, s := range packables() {
		g := newGrowth(s)
		p := g.packed
		if p == nil {
			t.Fatalf("%s are not packed", name)
		}
		largest := 0.0
		for _, y := range s.Targets {
			largest = max(largest, math.Abs(y))
		}
		for _, rows := range []int{0, 1, 7, 300} {
			var w words
			want := make([]float64, g.kinds)
			for i := range rows {
				w.add(p.row(i))
				for k := range want {
					if s.Classes == 0 {
						want[k] += s.Targets[i*g.kinds+k]
					} else if int(s.Targets[i]) == k {
						want[k]++
					}
				}
			}
			unit, most := 1.0, 0.0
			if s.Classes == 0 {
				unit = largest / float64(p.bias)
				most = float64(rows) * unit
			}
			var got sums
			p.read(&got, &w)
			if got.kept != rows {
				t.Errorf("%s: %d rows are read as %d", name, rows, got.kept)
			}
			for k, v := range want {
				if !(math.Abs(got.of[k]*unit-v) <= most) {
					t.Errorf("%s, %d rows: the sum of kind %d is %v, want %v ± %v", name, rows, k, got.of[k]*unit, v, most)
				}
			}
		}
	}
	for name, s := range map[string]Sample{
		"17 classes":     packable(300, 17, 0),
		"12 targets":     packable(300, 0, 12),
		"8,192 rows":     packable(8192, 2, 0),
		"targets of 0":   {Dim: 1, X: make([]float32, 9), Targets: make([]float64, 9), Weights: slices.Repeat([]float64{1}, 9), Thresholds: packedDraws},
		"weights":        {Dim: 1, X: make([]float32, 9), Targets: make([]float64, 9), Classes: 2, Weights: slices.Repeat([]float64{2}, 9), Thresholds: packedDraws},
		"two thresholds": {Dim: 1, X: make([]float32, 9), Targets: make([]float64, 9), Classes: 2, Weights: slices.Repeat([]float64{1}, 9), Thresholds: 2},
	} {
		if newGrowth(s).packed != nil {
			t.Errorf("%s are packed", name)
		}
		if f := Grow(s, 2, 1); f.Trees() != 2 {
			t.Errorf("%s: %d trees", name, f.Trees())
		}
	}
}

// The bins of rows are those of a loop that compares each of them with each threshold.
func TestBinsAreThoseOfComparisons(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, used := range []int{1, 2, 4} {
		for range 50 {
			n := rng.IntN(40)
			ranks, numbers, rows := make([]uint16, n), make([]uint16, n), make([]uint64, n*used)
			bit := make([]uint16, n)
			for i := range ranks {
				ranks[i], numbers[i], bit[i] = uint16(rng.IntN(mostPacked+1)), uint16(n-1-i), uint16(rng.IntN(2))
			}
			for i := range rows {
				rows[i] = rng.Uint64() >> 8
			}
			thresholds := [packedDraws]uint16{0, uint16(rng.IntN(mostPacked)), mostPacked - 1, mostPacked}
			if n > 0 {
				thresholds[0] = ranks[0]
			}
			var got bins
			got.fill(ranks, rows, used, &thresholds)
			var want bins
			var zero words
			count := 0
			for i, rank := range ranks {
				bin := 0
				for _, at := range thresholds {
					if rank <= at {
						bin++
					}
				}
				none := bit[numbers[i]] == 0
				if none {
					count++
				}
				for j := range used {
					want[bin][j] += rows[i*used+j]
					if none {
						zero[j] += rows[i*used+j]
					}
				}
			}
			if got != want {
				t.Fatalf("%d words, ranks %v, thresholds %v: bins %v, want %v", used, ranks, thresholds, got, want)
			}
			if sum, n := zeros(bit, numbers, rows, used); sum != zero || n != count {
				t.Fatalf("%d words: %d zeros with the sum %v, want %d with %v", used, n, sum, count, zero)
			}
		}
	}
}

// With one column of few values every threshold is compared, and the best one is taken.
func TestPackedTreesTakeTheBestSplit(t *testing.T) {
	for name, s := range packables() {
		for _, column := range []int{1, 3, 5} {
			one := s
			one.Dim, one.X = 1, nil
			for i := column; i < len(s.X); i += s.Dim {
				one.X = append(one.X, s.X[i])
			}
			f := Grow(one, 1, 1)
			rows := make([]int, len(one.X))
			for i := range rows {
				rows[i] = i
			}
			least := one.impurity(rows)
			divided := func(threshold float32) float64 {
				var left, right []int
				for i, v := range one.X {
					if v > threshold {
						right = append(right, i)
					} else {
						left = append(left, i)
					}
				}
				return one.impurity(left) + one.impurity(right)
			}
			if root := f.nodes[0]; root.left != 0 {
				least = divided(root.threshold)
			}
			for _, v := range []float32{-1, 0, 1, 2, 3} {
				if d := divided(v); d < least-0.02*math.Abs(least) {
					t.Errorf("%s, column %d: the split leaves %v, one at %v leaves %v", name, column, least, v, d)
				}
			}
		}
	}
}

// Packed trees are what a model is as well: they may not change.
func TestPackedTreesAreForever(t *testing.T) {
	want := map[string]string{
		"2 classes":  "da47850328680dc4",
		"7 classes":  "5e0bf0466347d1c8",
		"10 classes": "7863ee9bf08f31ae",
		"1 targets":  "4ec8b23be4788e17",
		"3 targets":  "eecd8d148c9a8f60",
		"7 targets":  "640590518d5f3a3d",
		"8 targets":  "d3143fbf48487172",
	}
	all := packables()
	for name := range want {
		columns, thresholds := Grow(all[name], 5, 1).Encode()
		h := sha256.New()
		h.Write(columns)
		if err := binary.Write(h, binary.LittleEndian, thresholds); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want[name] {
			t.Errorf("%s: the hash of the trees is %s, want %s", name, got, want[name])
		}
		s := all[name]
		s.X, s.Weights = append(slices.Clone(s.X), 9, 9, 9, 9, 9, 9), append(slices.Clone(s.Weights), 0)
		s.Targets = append(slices.Clone(s.Targets), s.Targets[:max(1, len(s.Targets)/300)]...)
		if c, at := Grow(s, 5, 1).Encode(); !bytes.Equal(c, columns) || !slices.Equal(at, thresholds) {
			t.Errorf("%s: a row without weight changes the trees", name)
		}
	}
}

// Ranks are the places among the values in their order, of which 0 and -0 are the same.
func TestRanksAreThoseOfSortedValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	var r ranker
	for _, n := range []int{1, 2, 300, 17} {
		for _, distinct := range []int{1, 2, 5, 1 << 30} {
			column := make([]float32, n)
			for i := range column {
				switch k := rng.IntN(distinct); {
				case k == 1:
					column[i] = float32(math.Copysign(0, -1))
				case k > 1:
					column[i] = float32(k-3) * float32(1-2*rng.IntN(2))
				}
			}
			want := slices.Clone(column)
			slices.Sort(want)
			want = slices.Compact(want)
			ranks, values := r.rank(column)
			if !slices.Equal(values, want) {
				t.Fatalf("the values of %v are %v, want %v", column, values, want)
			}
			for i, v := range column {
				if at, _ := slices.BinarySearch(want, v); int(ranks[i]) != at {
					t.Fatalf("in %v, %v has the rank %d, want %d", column, v, ranks[i], at)
				}
			}
		}
	}
}

// Trees are the same with ranks that another sample of the same rows has computed.
func TestSharedRanksGrowTheSameTrees(t *testing.T) {
	s, other := packable(300, 3, 0), packable(300, 3, 0)
	want := Grow(s, 5, 1)
	s.Shared = new(Shared)
	other.Classes, other.Shared = 0, s.Shared
	Grow(other, 5, 2)
	if s.Shared.ranks == nil {
		t.Fatal("nothing is shared")
	}
	columns, thresholds := Grow(s, 5, 1).Encode()
	if wantColumns, wantThresholds := want.Encode(); !bytes.Equal(columns, wantColumns) || !slices.Equal(thresholds, wantThresholds) {
		t.Error("the trees differ")
	}
}
