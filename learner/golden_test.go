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
			name, want string
			config     Config
			rows       int
			label      func(x []float64) Label
		}{
			{"two classes", "390e8aef7880aab0", Config{Width: 8, MaxFeatures: 64}, 700, sides},
			{"four classes", "e0eb573d63f7d26d", Config{Kernel: "gaussian:1.5", Width: 8, MaxFeatures: 64}, 700, func(x []float64) Label {
				return Label{Task: Classification, Class: int(4 * x[2])}
			}},
			{"regression", "26052c8877aa93ad", Config{Width: 8, MaxFeatures: 64}, 700, func(x []float64) Label {
				return Label{Task: Regression, Value: float64(8*x[0]) - x[1]}
			}},
			{"three targets", "98883cb8f27201f9", Config{Outputs: 3, Width: 8, MaxFeatures: 64}, 700, three},
			{"three targets, ridge", "a096d5f8e1a8c008", Config{Outputs: 3, Algorithm: "ridge", MaxFeatures: 32}, 700, three},
			{"dsg", "013b4a58ecd831ea", Config{Algorithm: "dsg", MaxFeatures: 64}, 700, sides},
			{"udsg, adagrad", "8768a536f7a11855", Config{Algorithm: "udsg", Stepper: "adagrad", MaxFeatures: 64}, 700, sides},
			{"cdsg, precond", "5423ae5e309a4e57", Config{Algorithm: "cdsg", Stepper: "precond", MaxFeatures: 64}, 700, sides},
			{"cdsg:alpha", "53d60f45613385d1", Config{Algorithm: "cdsg:alpha", MaxFeatures: 64}, 700, sides},
			{"eigenpro", "d656c74a2e6ae4f0", Config{Algorithm: "eigenpro", MaxFeatures: 64}, 1100, sides},
			{"ridge", "22da22ebb1188b39", Config{Algorithm: "ridge", MaxFeatures: 32}, 700, sides},
		} {
			rng := rand.New(rand.NewPCG(1, 2))
			l := newLearner(t, test.config)
			var b Batch
			b.Reset(5)
			x := make([]float64, 5)
			for i := range test.rows {
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

func three(x []float64) Label { return values([]float64{x[0], x[1] * x[2], float64(8*x[3]) - x[4]}) }

func sides(x []float64) Label { return class(x[0] > x[1]) }
