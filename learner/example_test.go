package learner_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/learner"
)

// waves is n rows of y = sin(2x) with some noise, x from -3 to 3.
func waves(seed uint64, n int) *learner.Batch {
	rng := rand.New(rand.NewPCG(seed, 0))
	b := new(learner.Batch)
	b.Reset(1)
	for range n {
		x := 6*rng.Float64() - 3
		y := math.Sin(2*x) + 0.1*rng.NormFloat64()
		b.Append([]float64{x}, learner.Label{Task: learner.Regression, Value: y}, 1)
	}
	return b
}

func learn(l *learner.Learner, b *learner.Batch) {
	for b.Len() > 0 {
		p := l.Predict(b)
		b = b.Slice(p.Len(), b.Len())
		l.Learn(p)
	}
}

// Four machines learn a stream each from where one warm-up has ended, and their
// models add up.
func ExampleLearner_Merge() {
	config := learner.Config{Algorithm: "ridge", BlockSize: 16, MaxFeatures: 32}
	base, err := learner.New(config)
	if err != nil {
		log.Fatal(err)
	}
	learn(base, waves(1, 1280))
	start := base.State()

	var merged *learner.Learner
	for machine := range uint64(4) {
		l, err := learner.Restore(config, start)
		if err != nil {
			log.Fatal(err)
		}
		learn(l, waves(2+machine, 1000))
		if merged == nil {
			merged = l
		} else if err := merged.Merge(l, base); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(merged.Progress().Examples, "examples")
	// Output: 5280 examples
}

// Intervals that hold nine of ten labels.
func ExampleConformal() {
	l, err := learner.New(learner.Config{Algorithm: "ridge", BlockSize: 16, MaxFeatures: 32, Variance: true})
	if err != nil {
		log.Fatal(err)
	}
	var nine learner.Conformal
	inside, rows := 0, 0
	for b := waves(1, 6000); b.Len() > 0; {
		p := l.Predict(b)
		for i := range p.Len() {
			u := p.Uncertainty(i)
			if !u.HasVariance() {
				continue
			}
			score := math.Abs(b.Label(i).Value-p.Row(i)[0]) / math.Sqrt(u.Variance(0))
			if rows++; score <= nine.Radius {
				inside++
			}
			nine.Add(score)
		}
		b = b.Slice(p.Len(), b.Len())
		l.Learn(p)
	}
	fmt.Printf("%.1f of the labels are inside\n", float64(inside)/float64(rows))
	// Output: 0.9 of the labels are inside
}
