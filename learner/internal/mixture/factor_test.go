package mixture

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// TestScorersBecomeAsSureAsTheyAreRight: where the scores of a scorer are multiples of those
// that the classes are drawn from, the factor undoes most of that; the penalty keeps the rest.
func TestScorersBecomeAsSureAsTheyAreRight(t *testing.T) {
	for name, h := range map[string]target.Head{
		"two classes":   target.NewHead(loss.Logistic{}, target.Classification, 2, 1),
		"three classes": target.NewHead(loss.Softmax{}, target.Classification, 3, 1),
	} {
		for _, sure := range []float64{0.6, 1, 1.7} {
			m, rng := New(h, Options{}), rand.New(rand.NewPCG(1, 2))
			m.Static.Engine = make([]float64, h.Scores())
			f, p := make([]float64, h.Scores()), make([]float64, h.Classes)
			sum, n := 0.0, 0
			for i := range 6000 {
				for c := range f {
					f[c] = 2 * rng.NormFloat64()
				}
				h.Predict(p, f)
				class := 0
				for u := rng.Float64(); class < h.Classes-1 && u >= p[class]; class++ {
					u -= p[class]
				}
				for c := range f {
					f[c] *= sure * m.factor[0]
				}
				h.Predict(p, f)
				m.learnFactor(&h, p, class, 1)
				if i%ChunkRows == ChunkRows-1 {
					m.Commit()
					m.solveFactor()
					m.Begin(nil, 0)
				}
				if i >= 1000 {
					sum, n = sum+m.factor[0]*sure, n+1
				}
			}
			if mean := sum / float64(n); math.Abs(math.Log(mean)) > 0.03+math.Abs(math.Log(sure))/3 {
				t.Errorf("%s: scores that are %v times those of the classes remain %.3f times", name, sure, mean)
			}
		}
	}
}
