package learner

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// TestBitsOfWarmupsAreForever pins the states of models of the later versions of the
// warm-up, for classes whose numbers are those of another order, and for numbers.
func TestBitsOfWarmupsAreForever(t *testing.T) {
	for _, test := range []struct {
		name, want string
		config     Config
		label      func(x []float64) Label
	}{
		{"regression", "747115765d49061f", Config{Warmup: 2, Algorithm: "ridge", MaxFeatures: 32}, func(x []float64) Label {
			return Label{Task: Regression, Value: float64(x[0]*x[0]) - x[1]}
		}},
		{"five classes", "e45b9a4e51501fa9", Config{Warmup: 2, BlockSize: 8, MaxFeatures: 32}, five},
		{"regression, third version", "df1fc4d1321713eb", Config{Warmup: 3, Algorithm: "ridge", MaxFeatures: 32}, func(x []float64) Label {
			return Label{Task: Regression, Value: float64(x[0]*x[0]) - x[1]}
		}},
		{"five classes, third version", "52499615056eea04", Config{Warmup: 3, BlockSize: 8, MaxFeatures: 32}, five},
		{"regression, fourth version", "df1fc4d1321713eb", Config{Warmup: 4, Algorithm: "ridge", MaxFeatures: 32, NormalScores: true}, func(x []float64) Label {
			return Label{Task: Regression, Value: float64(x[0]*x[0]) - x[1]}
		}},
		{"five classes, fourth version", "de03e391d2ffe04c", Config{Warmup: 4, BlockSize: 8, MaxFeatures: 32}, five},
		{"regression, fifth version", "41c1a301c6f1857c", Config{Warmup: 5, BlockSize: 8, MaxFeatures: 64, Mixture: true}, func(x []float64) Label {
			return Label{Task: Regression, Value: float64(x[0]*x[0]) - x[1]}
		}},
		{"smooth regression, fifth version", "a0b3dad66b431a7d", Config{Warmup: 5, BlockSize: 8, MaxFeatures: 64, Mixture: true}, cornered},
		{"smooth regression, sixth version", "5a3052f5267ba0e8", Config{Warmup: 6, BlockSize: 8, MaxFeatures: 64, Mixture: true}, cornered},
		{"five classes, fifth version", "d111f85bdbbe7ffa", Config{Warmup: 5, BlockSize: 16, MaxFeatures: 4096, Mixture: true}, five},
		{"regression, sixth version", "75fa444be8d1b114", Config{Warmup: 6, BlockSize: 8, MaxFeatures: 64, Mixture: true, NormalScores: true}, func(x []float64) Label {
			return Label{Task: Regression, Value: float64(x[0]*x[0]) - x[1]}
		}},
		{"five classes, sixth version", "2b33d3568ef6cefd", Config{Warmup: 6, BlockSize: 16, MaxFeatures: 4096, Mixture: true}, five},
		{"regression, seventh version", "75fa444be8d1b114", Config{Warmup: 7, BlockSize: 8, MaxFeatures: 64, Mixture: true, NormalScores: true}, func(x []float64) Label {
			return Label{Task: Regression, Value: float64(x[0]*x[0]) - x[1]}
		}},
		{"smooth regression, seventh version", "5a3052f5267ba0e8", Config{Warmup: 7, BlockSize: 8, MaxFeatures: 64, Mixture: true}, cornered},
		{"five classes, seventh version", "2b33d3568ef6cefd", Config{Warmup: 7, BlockSize: 16, MaxFeatures: 4096, Mixture: true}, five},
		{"regression, eighth version", "70e0973e31224976", Config{Warmup: 8, BlockSize: 8, MaxFeatures: 64, Mixture: true, NormalScores: true}, func(x []float64) Label {
			return Label{Task: Regression, Value: float64(x[0]*x[0]) - x[1]}
		}},
		{"five classes, eighth version", "2b33d3568ef6cefd", Config{Warmup: 8, BlockSize: 16, MaxFeatures: 4096, Mixture: true}, five},
		{"beyond the rows, seventeenth version", "ca8eabc7e86f0be1", Config{Warmup: 17, BlockSize: 8, MaxFeatures: 64, Mixture: true}, cornered},
		{"beyond the rows, twenty-first version", "d8dc9bf486077870", Config{Warmup: 21, BlockSize: 8, MaxFeatures: 64, Mixture: true}, cornered},
		{"five classes, twentieth version", "c51b817caff7bd09", Config{Warmup: 20, BlockSize: 8, MaxFeatures: 32, Mixture: true}, five},
		{"five classes, nineteenth version", "c51b817caff7bd09", Config{Warmup: 19, BlockSize: 8, MaxFeatures: 32, Mixture: true}, five},
		{"five classes, eighteenth version", "c51b817caff7bd09", Config{Warmup: 18, BlockSize: 8, MaxFeatures: 32, Mixture: true}, five},
		{"five classes, seventeenth version", "c51b817caff7bd09", Config{Warmup: 17, BlockSize: 8, MaxFeatures: 32, Mixture: true}, five},
	} {
		if testing.Short() && (test.config.Warmup >= int(warmup.Third) && test.config.Warmup < int(warmup.Newest) || strings.HasPrefix(test.name, "smooth")) {
			continue // their arithmetic is that of the second version and of the newest one
		}
		rng := rand.New(rand.NewPCG(1, 2))
		l := newWhole(t, test.config)
		var b Batch
		b.Reset(3)
		x := make([]float64, 3)
		n := 400
		if test.config.Warmup >= 5 && test.config.MaxFeatures == 64 { // to the steps after its last fit
			n = 1280
		}
		if test.config.Warmup >= 21 { // and to Gram matrices of a part of the window
			n = 2400
		}
		for range n {
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			b.Append(x, test.label(x), 1)
		}
		learn(l, &b, 400)
		if got := hash(l.State()); got != test.want {
			t.Errorf("%s: the state's hash is %s, want %s", test.name, got, test.want)
		}
	}
}

// TestBitsOfFinishedModelsAreForever pins the predictions of models whose rows end with young trees:
// from the nineteenth version on, rows that are held out have a say in them, and from the twentieth
// on they are solutions, with a fit of all rows. The rest of the state does not depend on it.
func TestBitsOfFinishedModelsAreForever(t *testing.T) {
	const want = "f17a364f711e57a2"
	for _, test := range []struct {
		version int
		serving string
	}{
		{18, "9d8258e01a9a4b60"},
		{19, "a359a908303868a2"},
		{20, "0461d3f1dc7d66f8"},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		l := newWhole(t, Config{Warmup: test.version, BlockSize: 8, MaxFeatures: 64, Mixture: true, Forest: 20, ForestTrial: true, ForestRegrow: true, ForestLasting: true})
		var b Batch
		b.Reset(3)
		x := make([]float64, 3)
		for range 800 {
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			b.Append(x, cornered(x), 1)
		}
		learn(l, &b, 400)
		before := l.State()
		s := l.Finish()
		again, err := restoreWith(l.config, before, memoised)
		if err != nil {
			t.Fatal(err)
		}
		sameState(t, "finished after a restore", again.Finish(), s)
		if serving, rest := hash(State{Serving: s.Serving}), hash(State{Resuming: s.Resuming}); serving != test.serving || rest != want {
			t.Errorf("version %d: the serving part has the hash %s and the rest %s, want %s and %s", test.version, serving, rest, test.serving, want)
		}
	}
}

// cornered is a smooth number with a corner: its best kernel is wide and has the weakest penalty.
func cornered(x []float64) Label {
	u := x[0] + float64(0.5*x[1])
	return Label{Task: Regression, Value: float64(u*u) + float64(0.25*math.Abs(x[2]))}
}

// five are classes of unequal size.
func five(x []float64) Label {
	return Label{Task: Classification, Class: min(4, int(2*math.Abs(x[0]))+max(0, int(x[1])))}
}

// TestBitsOfNormalScoresAreForever pins, like TestBitsAreForever, the states of models whose
// warm-up has chosen normal scores.
func TestBitsOfNormalScoresAreForever(t *testing.T) {
	for _, test := range []struct {
		name, want string
		config     Config
		label      func(x []float64) Label
	}{
		{"regression", "76cb953263846172", Config{NormalScores: true, BlockSize: 8, MaxFeatures: 32}, func(x []float64) Label {
			return Label{Task: Regression, Value: float64(x[0]*x[0]) - x[1]}
		}},
		{"two classes, ridge", "17ff91e776caba83", Config{NormalScores: true, Algorithm: "ridge", MaxFeatures: 32}, sides},
	} {
		if testing.Short() && test.config.Algorithm == "" { // its warm-up is that of the other
			continue
		}
		rng := rand.New(rand.NewPCG(1, 2))
		l := newWhole(t, test.config)
		var b Batch
		b.Reset(3)
		x, seen := make([]float64, 3), make([]float64, 3)
		for range 500 {
			for j := range x {
				x[j] = rng.NormFloat64()
				seen[j] = vec.Exp(3 * x[j]) // a long tail
			}
			b.Append(seen, test.label(x), 1)
		}
		learn(l, &b, 500)
		if c := l.Columns(); len(c) != 3 || !strings.HasPrefix(c[0].Becomes, "normal score") {
			t.Errorf("%s: the columns are %v, want normal scores", test.name, c)
		}
		if got := hash(l.State()); got != test.want {
			t.Errorf("%s: the state's hash is %s, want %s", test.name, got, test.want)
		}
	}
}
