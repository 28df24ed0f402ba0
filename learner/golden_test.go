package learner

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
)

// TestBitsAreForever pins the states that some rows lead to. Models are resumed
// and replayed from their logs, so if a value here changes, every model in
// service is another one from then on: that takes a new version of the format.
// All instruction sets and machines have these same bits.
func TestBitsAreForever(t *testing.T) {
	defer func(name string) {
		if err := vec.Select(name); err != nil {
			t.Error(err)
		}
	}(vec.ISA())
	for _, isa := range vec.ISAs() {
		if err := vec.Select(isa); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name, kernel, want string
			label              func(x []float64) Label
		}{
			{"two classes", "", "b158f2039e61a068", func(x []float64) Label { return class(x[0] > x[1]) }},
			{"four classes", "gaussian:1.5", "8b549aa5b0f80176", func(x []float64) Label {
				return Label{Task: Classification, Class: int(4 * x[2])}
			}},
			{"regression", "gaussian:1.5", "88e4c0f6515ee525", func(x []float64) Label {
				return Label{Task: Regression, Value: float64(8*x[0]) - x[1]}
			}},
		} {
			rng := rand.New(rand.NewPCG(1, 2))
			l := newLearner(t, Config{Width: 8, MaxFeatures: 64, Kernel: test.kernel})
			var b Batch
			b.Reset(5)
			x := make([]float64, 5)
			for i := range 1300 {
				for j := range x {
					x[j] = rng.Float64()
				}
				y := test.label(x)
				y.Class = min(y.Class, i) // classes appear in their order
				b.Append(x, y, 1)
			}
			learn(l, &b, 500)
			if got := hash(l.State()); got != test.want {
				t.Errorf("%s, %s: the state's hash is %s, want %s", isa, test.name, got, test.want)
			}
		}
	}
}

// hash is of the names, shapes and numbers of a State.
func hash(s State) string {
	h := sha256.New()
	for _, a := range slices.Concat(s.Serving, s.Resuming) {
		h.Write([]byte(a.Name))
		for _, v := range []any{int64(a.Shape[0]), int64(a.Shape[1]), a.Data} {
			if err := binary.Write(h, binary.LittleEndian, v); err != nil {
				panic(err)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
