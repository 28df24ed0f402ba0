package learner

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// After these rows the states have a hash of their own. For newton the test ends there
// with -short, and for slower instruction sets without -whole: the others take ten times
// as long, and minutes on an emulated machine. For all algorithms it ends there with
// -short on the slowest of these, which is s390x.
const earlyRows = 300

var whole = flag.Bool("whole", false, "learn the whole streams of TestBitsAreForever with every instruction set")

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
			name, early, want string
			config            Config
			rows              int
			label             func(x []float64) Label
		}{
			{"two classes", "68cce529a7949d03", "f5c9997336aed462", Config{BlockSize: 8, MaxFeatures: 64}, 700, sides},
			{"four classes", "3bd510ebcbaff76c", "6dd0d2403789bef3", Config{Kernel: "gaussian:1.5", BlockSize: 8, MaxFeatures: 64}, 700, func(x []float64) Label {
				return Label{Task: Classification, Class: int(4 * x[2])}
			}},
			{"two classes, mixture", "9e5fa353832ca7f8", "b5fa97cffe97bcc7", Config{Mixture: true, BlockSize: 8, MaxFeatures: 16}, 500, sides},
			{"two classes, balance and ages", "7a942bc91cdae6a9", "a9d8b69e5d1058f2", Config{Algorithm: "ridge", MaxFeatures: 32, Balance: "balanced", HalfLife: 100}, 1600, func(x []float64) Label { return class(x[0] > 0.9) }},
			{"three targets, mixture", "f890734b5ba70243", "3cd6b09b5d9f69e9", Config{Mixture: true, Targets: 3, BlockSize: 8, MaxFeatures: 16}, 500, three},
			{"regression", "0988d15eca61fd0a", "262336e2e3d39e6b", Config{BlockSize: 8, MaxFeatures: 64}, 700, func(x []float64) Label {
				return Label{Task: Regression, Value: float64(8*x[0]) - x[1]}
			}},
			{"three targets", "a524fc18620675f6", "ec5777a0a51185b6", Config{Targets: 3, BlockSize: 8, MaxFeatures: 64}, 700, three},
			{"three targets, ridge", "bfe1dcf195b10711", "4ec75d92ccda4694", Config{Targets: 3, Algorithm: "ridge", MaxFeatures: 32}, 700, three},
			{"dsg", "0625be73f411c8e1", "bef448b8fad758ea", Config{Algorithm: "dsg", Direction: "rate", MaxFeatures: 64}, 700, sides},
			{"dsg, precond", "fa7fb4b0ad63d871", "a57fd62dfb61dc5f", Config{Algorithm: "dsg", MaxFeatures: 64}, 700, sides},
			{"udsg, adagrad", "6406e09fba0db661", "ddab041f84848784", Config{Algorithm: "udsg", Direction: "adagrad", MaxFeatures: 64}, 700, sides},
			{"cdsg, precond", "e46008ea131b9144", "4d029840786cb964", Config{Algorithm: "cdsg", MaxFeatures: 64}, 700, sides},
			{"cdsg", "ee76dbd1ff35d18a", "291f8ac56dffad3d", Config{Algorithm: "cdsg", Direction: "rate", MaxFeatures: 64}, 700, sides},
			{"all", "5f18df862ee4d5b7", "701d2cc4331b812d", Config{Algorithm: "all", MaxFeatures: 64}, 700, sides},
			{"cdsg:alpha", "732343e0004f43c8", "3c5598a3f656cbac", Config{Algorithm: "cdsg:alpha", MaxFeatures: 64}, 700, sides},
			{"eigenpro", "9394ec054017ce56", "988a1f19aee0e0e8", Config{Algorithm: "eigenpro", MaxFeatures: 64}, 1100, sides},
			{"ridge", "8a017f44a84bc790", "b4f76adc2f64e323", Config{Algorithm: "ridge", MaxFeatures: 32}, 700, sides},
			{"novelty", "04c64404f520aeae", "4b9d7a0c3ace9b4b", Config{Task: Novelty, MaxFeatures: 64}, 2400, func([]float64) Label { return Label{Task: Novelty} }},
		} {
			if testing.Short() && test.config.Mixture && test.config.Targets > 1 { // the other mixture takes its steps
				continue
			}
			rng := rand.New(rand.NewPCG(1, 2))
			l := newWhole(t, test.config)
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
				if test.config.HalfLife > 0 {
					b.SetTime(float64(i - i%300))
				}
			}
			learn(l, b.Slice(0, earlyRows), 500)
			if got := hash(l.State()); got != test.early {
				t.Errorf("%s, %s: after %d rows the state's hash is %s, want %s", isa, test.name, earlyRows, got, test.early)
			}
			if newton := test.config.Algorithm == ""; !*whole && (newton && (testing.Short() || isa != vec.ISAs()[0]) || testing.Short() && runtime.GOARCH == "s390x") {
				continue
			}
			learn(l, b.Slice(earlyRows, b.Len()), 500)
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

func three(x []float64) Label {
	return target.RegressionLabel([]float64{x[0], x[1] * x[2], float64(8*x[3]) - x[4]})
}

func sides(x []float64) Label { return class(x[0] > x[1]) }
