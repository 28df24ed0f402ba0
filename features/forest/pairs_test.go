package forest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"
)

// categorical returns rows of indicators of the values of categories, with a column of numbers
// between the second and the third, and the values themselves.
func categorical(rng *rand.Rand, rows int, sizes ...int) (s Sample, values [][]int) {
	for range rows {
		var of []int
		for c, size := range sizes {
			v := rng.IntN(size)
			of = append(of, v)
			for i := range size {
				s.X = append(s.X, 0.25)
				if i == v {
					s.X[len(s.X)-1] = 3
				}
			}
			if c == 1 {
				s.X = append(s.X, float32(rng.NormFloat64()))
			}
		}
		values = append(values, of)
		s.Weights = append(s.Weights, 1)
	}
	s.Dim = len(s.X) / rows
	return s, values
}

// tables returns targets that are the sum of tables of pairs of categories, and noise.
func tables(rng *rand.Rand, values [][]int, noise float64, pairs ...[2]int) []float64 {
	y := make([]float64, len(values))
	for _, p := range pairs {
		var table [20][20]float64
		for a := range table {
			for b := range table[a] {
				table[a][b] = rng.NormFloat64()
			}
		}
		for i, v := range values {
			y[i] += table[v[p[0]]][v[p[1]]]
		}
	}
	for i := range y {
		y[i] += noise * rng.NormFloat64()
	}
	return y
}

// Two rows share a leaf of the tree of a pair if they have the same values of both of its
// categories, and only then: in the trees themselves, and in what is read of their encoding.
func TestLeavesOfPairsAreTheirValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	s, values := categorical(rng, 1250, 4, 7, 5, 3)
	want := [][2]int{{0, 2}, {1, 3}}
	s.Targets = tables(rng, values, 0.2, want...)
	f := Grow(s, 3, 1)
	f = f.WithPairs(s)
	if f.Trees() != 3+len(want) {
		t.Fatalf("there are %d trees, want 3 and %d of pairs", f.Trees(), len(want))
	}
	read, err := Decode(encoded(f))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Forest{f, read} {
		leaves := make([]int32, f.Trees()*len(values))
		f.Leaf(leaves, s.X)
		found := map[[2]int]bool{}
		for tree := 3; tree < f.Trees(); tree++ {
			at := leaves[tree*len(values):]
			for _, p := range want {
				same := true
				for i := range 200 {
					for j := range i {
						cell := values[i][p[0]] == values[j][p[0]] && values[i][p[1]] == values[j][p[1]]
						same = same && (at[i] == at[j]) == cell
					}
				}
				found[p] = found[p] || same
			}
		}
		for _, p := range want {
			if !found[p] {
				t.Errorf("no tree has the values of %v as its leaves", p)
			}
		}
	}
}

func encoded(f *Forest) ([]byte, []float32, int) {
	columns, thresholds := f.Encode()
	return columns, thresholds, f.Dim()
}

// Only pairs that tell more together than their categories by themselves have trees: none in
// sums of effects, with noise or without, in noise, or in products of numbers, whatever the random numbers.
func TestPairsAreThoseThatDependOnEachOther(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s, values := categorical(rng, 1250, 6, 6, 6, 6)
		noise := tables(rng, values, 1)
		sums, numbers, classes, exact := slices.Clone(noise), slices.Clone(noise), s, s
		for i, v := range values {
			sums[i] += 3*float64(v[0]%2) + float64(v[1])
			exact.Targets = append(exact.Targets, float64(v[0]%3))
			numbers[i] += 2 * float64(s.X[i*s.Dim+12])
			classes.Targets = append(classes.Targets, float64((v[1]+v[2])%3))
		}
		classes.Classes, exact.Classes = 3, 3
		for name, test := range map[string]struct {
			s    Sample
			want int
		}{
			"noise":     {s.with(noise), 0},
			"sums":      {s.with(sums), 0},
			"exact":     {exact, 0},
			"numbers":   {s.with(numbers), 0},
			"one table": {s.with(tables(rng, values, 1, [2]int{1, 2})), 1},
			"three":     {s.with(tables(rng, values, 1, [2]int{0, 1}, [2]int{0, 3}, [2]int{1, 2})), 3},
			"classes":   {classes, 1},
		} {
			if got := Grow(test.s, 0, 1).WithPairs(test.s).Trees(); got != test.want {
				t.Errorf("seed %d, %s: %d pairs have trees, want %d", seed, name, got, test.want)
			}
		}
	}
}

// with returns s with the targets y.
func (s Sample) with(y []float64) Sample {
	s.Targets = y
	return s
}

// Rows without weight and the scale of columns change nothing, and the trees of a sample may
// not change: they are part of what a model is.
func TestPairsAreForever(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	s, values := categorical(rng, 600, 5, 4, 6)
	s.Targets = tables(rng, values, 0.3, [2]int{0, 1}, [2]int{1, 2})
	for i := range s.Weights {
		s.Weights[i] = 0.5 + rng.Float64()
	}
	columns, thresholds := Grow(s, 2, 1).WithPairs(s).Encode()
	h := sha256.New()
	h.Write(columns)
	if err := binary.Write(h, binary.LittleEndian, thresholds); err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(h.Sum(nil)[:8]), "eca26d4b73e3cceb"; got != want {
		t.Errorf("the hash of the trees is %s, want %s", got, want)
	}
	more := s
	more.X, more.Targets, more.Weights = slices.Clone(s.X), append(slices.Clone(s.Targets), 1e3), append(slices.Clone(s.Weights), 0)
	more.X = append(more.X, slices.Repeat([]float32{7}, s.Dim)...)
	for i := range more.X {
		more.X[i] *= 4
	}
	if got, _ := Grow(more, 2, 1).WithPairs(more).Encode(); !bytes.Equal(got, columns) {
		t.Error("a row without weight, or the scale of the columns, changes the trees")
	}
}

// From samples without pairs there is nothing to add.
func TestNoPairsFromFewRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	few, _ := categorical(rng, 8, 4, 4)
	few.Targets = make([]float64, 8)
	wide, _ := categorical(rng, 100, 30, 30)
	wide.Targets = make([]float64, 100)
	for i := range wide.Targets {
		wide.Targets[i] = rng.NormFloat64()
	}
	for name, s := range map[string]Sample{
		"none":    {Dim: 2},
		"numbers": samples()["numbers"],
		"few":     few,
		"wide":    wide,
		"weights": {Dim: 8, X: few.X, Targets: few.Targets, Weights: make([]float64, 8)},
	} {
		f := Grow(s, 2, 1)
		if got := f.WithPairs(s).Trees(); got != 2 {
			t.Errorf("%s: %d trees, want 2", name, got)
		}
	}
}
