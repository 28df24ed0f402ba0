package forest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// samples are of numbers, of several targets and of classes, with equal values, a
// constant column and rows without weight.
func samples() map[string]Sample {
	all := map[string]Sample{}
	for name, kinds := range map[string]struct{ classes, targets int }{"numbers": {0, 1}, "targets": {0, 3}, "classes": {4, 1}} {
		rng := rand.New(rand.NewPCG(1, 2))
		s := Sample{Dim: 5, Classes: kinds.classes}
		for i := range 300 {
			x := []float32{float32(rng.NormFloat64()), float32(rng.IntN(3)), 7, float32(rng.ExpFloat64()), float32(rng.NormFloat64())}
			s.X = append(s.X, x...)
			s.Weights = append(s.Weights, float64(i%7)/4)
			for k := range kinds.targets {
				y := math.Floor(8*rng.Float64()*float64(x[1])) / 4
				if x[0] > 0.5 {
					y += float64(k) + 1
				}
				if kinds.classes > 0 {
					y = math.Mod(math.Floor(y), 4)
				}
				s.Targets = append(s.Targets, y)
			}
		}
		all[name] = s
	}
	return all
}

// leafOf is the leaf of a row, node by node.
func (f *Forest) leafOf(tree int, x []float32) int32 {
	at := f.roots[tree]
	for f.nodes[at].left != at {
		next := f.nodes[at].left
		if x[f.nodes[at].column] > f.nodes[at].threshold {
			next++
		}
		at = next
	}
	return f.nodes[at].leaf
}

func TestLeavesAndSumsAreThoseOfTheTrees(t *testing.T) {
	for name, s := range samples() {
		f := Join(Grow(s, 3, 1), Grow(s, 4, 2))
		for _, n := range []int{0, 1, 3, 4, 130, 300} {
			x := s.X[:n*s.Dim]
			leaves := make([]int32, n*f.Trees())
			f.Leaf(leaves, x)
			parts := make([]int32, 0, len(leaves))
			for _, of := range [][2]int{{0, 1}, {1, 1}, {1, 6}, {6, 7}} {
				part := make([]int32, (of[1]-of[0])*n)
				f.LeafOf(part, x, of[0], of[1])
				parts = append(parts, part...)
			}
			if !slices.Equal(parts, leaves) {
				t.Fatalf("%s, %d rows: the leaves of some trees after the other are %d, want %d", name, n, parts, leaves)
			}
			const scores = 3
			coef := make([]float32, f.Leaves()*scores)
			for i := range coef {
				coef[i] = float32(math.Sin(float64(i)))
			}
			sums := make([]float64, n*scores)
			for i := range sums {
				sums[i] = float64(i) / 3
			}
			f.Sum(sums, x, coef, scores)
			for i := range n {
				want := make([]float64, scores)
				for tree := range f.Trees() {
					leaf := f.leafOf(tree, x[i*s.Dim:(i+1)*s.Dim])
					if got := leaves[tree*n+i]; got != leaf {
						t.Fatalf("%s, %d rows: row %d is in leaf %d of tree %d, want %d", name, n, i, got, tree, leaf)
					}
					if from, to := f.Tree(tree); int(leaf) < from || int(leaf) >= to {
						t.Fatalf("%s: leaf %d is not one of tree %d: %d to %d", name, leaf, tree, from, to)
					}
					for j := range want {
						want[j] += float64(coef[int(leaf)*scores+j])
					}
				}
				for j := range want {
					if got, want := sums[i*scores+j], float64(i*scores+j)/3+want[j]; got != want {
						t.Fatalf("%s, %d rows: the sum of row %d is %v, want %v", name, n, i, got, want)
					}
				}
			}
		}
	}
}

// impurity is the weighted sum of squares of the rows around their mean, or Gini's
// impurity times their weight.
func (s *Sample) impurity(rows []int) float64 {
	kinds := max(s.Classes, len(s.Targets)/len(s.Weights))
	total, sum := 0.0, 0.0
	mean := make([]float64, kinds)
	at := func(i, k int) float64 {
		if s.Classes > 0 {
			if int(s.Targets[i]) == k {
				return 1
			}
			return 0
		}
		return s.Targets[i*kinds+k]
	}
	for _, i := range rows {
		total += s.Weights[i]
		for k := range mean {
			mean[k] += s.Weights[i] * at(i, k)
		}
	}
	for _, i := range rows {
		for k := range mean {
			sum += s.Weights[i] * math.Pow(at(i, k)-mean[k]/total, 2)
		}
	}
	return sum
}

// Every split divides its rows into two sides of minLeafRows or more, and makes them
// purer; a node of many rows that are not alike is split.
func TestSplitsMakeRowsPurer(t *testing.T) {
	all := samples()
	maps.Copy(all, packables())
	for name, s := range all {
		more := s
		more.Thresholds = 4
		f := Join(Grow(s, 10, 3), Grow(more, 10, 3))
		var check func(at int32, rows []int)
		check = func(at int32, rows []int) {
			n := f.nodes[at]
			if n.left == at {
				if len(rows) < minLeafRows || len(rows) > 60 && s.impurity(rows) > 1e-9 {
					t.Fatalf("%s: a leaf has %d rows %v", name, len(rows), s.impurity(rows))
				}
				return
			}
			var left, right []int
			for _, i := range rows {
				if s.X[i*s.Dim+int(n.column)] > n.threshold {
					right = append(right, i)
				} else {
					left = append(left, i)
				}
			}
			if len(left) < minLeafRows || len(right) < minLeafRows {
				t.Fatalf("%s: a split has %d and %d rows", name, len(left), len(right))
			}
			if before, after := s.impurity(rows), s.impurity(left)+s.impurity(right); !(after < before) {
				t.Fatalf("%s: a split has the impurity %v, and %v before", name, after, before)
			}
			check(n.left, left)
			check(n.left+1, right)
		}
		var rows []int
		for i, w := range s.Weights {
			if w > 0 {
				rows = append(rows, i)
			}
		}
		for _, root := range f.roots {
			check(root, rows)
		}
	}
}

func TestForestDependsOnItsRowsAndSeedAlone(t *testing.T) {
	for name, s := range samples() {
		want, _ := Grow(s, 6, 1).Encode()
		s.X, s.Targets, s.Weights = append(s.X, 9, 9, 9, 9, 9), append(s.Targets, s.Targets[:max(1, len(s.Targets)/300)]...), append(s.Weights, 0)
		if got, _ := Grow(s, 6, 1).Encode(); !bytes.Equal(got, want) {
			t.Errorf("%s: a row without weight changes the trees", name)
		}
		if got, _ := Grow(s, 6, 2).Encode(); bytes.Equal(got, want) {
			t.Errorf("%s: the seed does not change the trees", name)
		}
		for i := range s.X {
			s.X[i] *= []float32{4, 0.5, 1, 8, 2}[i%5]
		}
		if got, _ := Grow(s, 6, 1).Encode(); !bytes.Equal(got, want) {
			t.Errorf("%s: the scale of a column changes the trees", name)
		}
	}
}

// Rows of the weight 1 are counted, others are summed: a factor of all weights that is a power
// of two makes no difference.
func TestCountedRowsGrowTheTreesOfSummedOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, classes := range []int{1, 2, 5, 6, 64, 65} {
		s := Sample{Dim: 4, Classes: classes}
		for range 400 {
			x := []float32{float32(rng.NormFloat64()), float32(rng.IntN(4)), float32(rng.NormFloat64()), float32(rng.IntN(2))}
			s.X = append(s.X, x...)
			s.Targets = append(s.Targets, float64(min(classes-1, int(math.Abs(float64(2*x[0]+x[1]))+rng.Float64()))))
		}
		s.Weights = slices.Repeat([]float64{1}, 400)
		columns, thresholds := Grow(s, 5, 1).Encode()
		if counted := newGrowth(s).worker().tally.kinds > 0; counted != (classes <= mostCounted) {
			t.Fatalf("%d classes: rows are counted is %v", classes, counted)
		}
		s.Weights = slices.Repeat([]float64{2}, 400)
		if c, at := Grow(s, 5, 1).Encode(); !bytes.Equal(c, columns) || !slices.Equal(at, thresholds) {
			t.Errorf("%d classes: the trees of counted rows are others", classes)
		}
	}
}

func TestGrowsFromAnyRows(t *testing.T) {
	for name, s := range map[string]Sample{
		"none":    {Dim: 2},
		"one":     {Dim: 2, X: []float32{1, 2}, Targets: []float64{3}, Weights: []float64{1}},
		"weights": {Dim: 1, X: make([]float32, 20), Targets: make([]float64, 20), Weights: make([]float64, 20)},
		"equal":   {Dim: 1, X: make([]float32, 20), Targets: make([]float64, 20), Weights: slices.Repeat([]float64{1}, 20), Classes: 2},
		"large":   {Dim: 1, X: []float32{-math.MaxFloat32, 0, 1, 2, 3, math.MaxFloat32}, Targets: []float64{0, 0, 0, 1e150, 1e150, 1e150}, Weights: slices.Repeat([]float64{1e9}, 6)},
	} {
		f := Grow(s, 3, 1)
		dst := []float64{0}
		f.Sum(dst, make([]float32, s.Dim), make([]float32, f.Leaves()), 1)
		if f.Trees() != 3 || f.Leaves() < 3 || dst[0] != 0 {
			t.Errorf("%s: %d trees, %d leaves, sum %v", name, f.Trees(), f.Leaves(), dst)
		}
	}
}

// Trees of more thresholds in a column divide their rows better, with fewer leaves. Joined trees
// are those that were joined, in their order. All of them may not change.
func TestTreesOfMoreThresholdsAreForever(t *testing.T) {
	want := map[string]string{"numbers": "f814c0e5c8ada9cd", "targets": "1a268e4abc0eac05", "classes": "8be0a7dc6ecedc6d"}
	for name, s := range samples() {
		one := Grow(s, 20, 1)
		s.Thresholds = 4
		four := Grow(s, 20, 1)
		if four.Leaves() >= one.Leaves() {
			t.Errorf("%s: %d leaves with four thresholds, %d with one", name, four.Leaves(), one.Leaves())
		}
		columns, thresholds := Join(one, four).Encode()
		c1, t1 := one.Encode()
		c4, t4 := four.Encode()
		if !bytes.Equal(columns, slices.Concat(c1, c4)) || !slices.Equal(thresholds, slices.Concat(t1, t4)) {
			t.Errorf("%s: joined trees are others", name)
		}
		h := sha256.New()
		h.Write(c4)
		if err := binary.Write(h, binary.LittleEndian, t4); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want[name] {
			t.Errorf("%s: the hash of the trees is %s, want %s", name, got, want[name])
		}
	}
}

// The trees of a sample are part of what a model is: they may not change.
func TestTreesAreForever(t *testing.T) {
	want := map[string]string{"numbers": "2f274d23f815afe4", "targets": "e844d5db659a6916", "classes": "3fae961125545da0"}
	for name, s := range samples() {
		columns, thresholds := Grow(s, 5, 1).Encode()
		h := sha256.New()
		h.Write(columns)
		if err := binary.Write(h, binary.LittleEndian, thresholds); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want[name] {
			t.Errorf("%s: the hash of the trees is %s, want %s", name, got, want[name])
		}
	}
}

func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	for name, s := range samples() {
		f := Grow(s, 4, 1)
		columns, thresholds := f.Encode()
		got, err := Decode(columns, thresholds, s.Dim)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.nodes, f.nodes) || !slices.Equal(got.roots, f.roots) || !slices.Equal(got.first, f.first) || got.dim != f.dim {
			t.Errorf("%s: the forest that was read differs", name)
		}
		for what, err := range map[string]error{
			"a byte less":      decodeError(columns[:len(columns)-1], thresholds, s.Dim),
			"a leaf":           decodeError(nil, nil, s.Dim),
			"a threshold more": decodeError(columns, append(thresholds, 1), s.Dim),
			"one less":         decodeError(columns, thresholds[1:], s.Dim),
			"a column":         decodeError(columns, thresholds, 3),
			"no input":         decodeError([]byte{0}, nil, 0),
			"a long number":    decodeError([]byte{0x80, 0}, nil, 3),
		} {
			if err == nil {
				t.Errorf("%s: %s is no error", name, what)
			}
		}
	}
}

func decodeError(columns []byte, thresholds []float32, dim int) error {
	_, err := Decode(columns, thresholds, dim)
	return err
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{1, 0, 2, 0, 0}, 2)
	f.Fuzz(func(t *testing.T, columns []byte, dim int) {
		dim = 1 + int(uint(dim)%5)
		thresholds := make([]float32, max(0, len(columns)/2))
		for n := range len(thresholds) + 1 {
			forest, err := Decode(columns, thresholds[:n], dim)
			if err != nil {
				continue
			}
			again, _ := forest.Encode()
			if !bytes.Equal(again, columns) {
				t.Errorf("%v is read as %v", columns, again)
			}
			forest.Sum(make([]float64, 1), make([]float32, dim), make([]float32, forest.Leaves()), 1)
		}
	})
}

// classified returns a sample whose columns shift with the class.
func classified(rows, dim, classes int) Sample {
	r := rand.New(rand.NewPCG(5, 6))
	s := Sample{X: make([]float32, rows*dim), Dim: dim, Targets: make([]float64, rows), Classes: classes, Weights: make([]float64, rows)}
	for i := range s.Targets {
		s.Targets[i], s.Weights[i] = float64(r.IntN(classes)), 1
		for j := range dim {
			s.X[i*dim+j] = float32(r.NormFloat64()) + float32((i*j)%7)*float32(s.Targets[i])/10
		}
	}
	return s
}

func BenchmarkGrow(b *testing.B) {
	s := classified(1250, 784, 10)
	for b.Loop() {
		Grow(s, 4, 1)
	}
}

func BenchmarkSum(b *testing.B) {
	const dim, scores = 54, 7
	s := classified(5000, dim, scores)
	f := Grow(s, 100, 1)
	coef := make([]float32, f.Leaves()*scores)
	for _, n := range []int{1, 32} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			dst, at := make([]float64, n*scores), 0
			for b.Loop() {
				at = (at + n*dim) % (len(s.X) - n*dim)
				f.Sum(dst, s.X[at/dim*dim:][:n*dim], coef, scores)
			}
		})
	}
}

// Constant columns do not change how many columns are compared at a node, if only those that vary
// count.
func TestVaryingColumnsCount(t *testing.T) {
	const rows, varying, constant = 60, 5, 20
	s := Sample{Dim: varying + constant, Weights: make([]float64, rows+1), Targets: make([]float64, rows+1)}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		for j := range s.Dim {
			v := float32(j)
			if j < varying {
				v = rng.Float32()
			}
			s.X = append(s.X, v)
		}
		s.Weights[i], s.Targets[i] = 1, rng.Float64()
	}
	s.X = append(s.X, make([]float32, s.Dim)...) // a row without weight
	for _, s.Thresholds = range []int{0, packedDraws} {
		for _, test := range []struct {
			varying bool
			among   int
		}{{false, varying + constant}, {true, varying}} {
			s.Varying = test.varying
			g := newGrowth(s)
			if (g.packed != nil) != (s.Thresholds > 0) {
				t.Fatalf("with %d thresholds the sample is packed: %v", s.Thresholds, g.packed != nil)
			}
			d := newDrawer(s.Dim, g.among, nil)
			if wanted, draws := d.node(); wanted != (test.among+1)/2 || draws != s.Dim {
				t.Errorf("thresholds %d, varying %v: %d columns are compared, of %d draws", s.Thresholds, test.varying, wanted, draws)
			}
		}
	}
}

func BenchmarkGrowPacked(b *testing.B) {
	s := classified(5000, 54, 7)
	s.Thresholds = packedDraws
	for b.Loop() {
		Grow(s, 4, 1)
	}
}
