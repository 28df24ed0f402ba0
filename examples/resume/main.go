// Command resume learns half of a stream, saves the state, restores it as another
// process would, and learns the rest. The result has the same bits as that of a
// learner that was never interrupted:
//
//	go run ./examples/resume
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

func main() {
	config := learner.Config{Task: learner.Classification, MaxFeatures: 512}
	stream := circles(4000)

	whole, err := learner.New(config)
	if err != nil {
		log.Fatal(err)
	}
	learn(whole, stream)

	first, err := learner.New(config)
	if err != nil {
		log.Fatal(err)
	}
	learn(first, stream.Slice(0, 2000))
	second, err := learner.Restore(config, first.State())
	if err != nil {
		log.Fatal(err)
	}
	learn(second, stream.Slice(2000, 4000))

	test := circles(8)
	a, b := whole.Predict(test), second.Predict(test)
	for i := range test.Len() {
		fmt.Printf("class %d: %.6f and %.6f, equal %v\n", test.Label(i).Class, a.Row(i), b.Row(i), slices.Equal(a.Row(i), b.Row(i)))
	}
}

// learn predicts and then learns every row of b. Predict stops where the model
// may change.
func learn(l *learner.Learner, b *learner.Batch) {
	for b.Len() > 0 {
		predicted := l.Predict(b)
		b = b.Slice(predicted.Len(), b.Len())
		l.Learn(predicted)
	}
}

// circles returns n rows of two inputs. The class is whether they lie within a
// circle.
func circles(n int) *learner.Batch {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	b := new(learner.Batch)
	b.Reset(2)
	for range n {
		x, y := 2*rng.Float64()-1, 2*rng.Float64()-1
		class := 0
		if x*x+y*y < 0.6 {
			class = 1
		}
		b.Append([]float64{x, y}, learner.Label{Task: learner.Classification, Class: class}, 1)
	}
	return b
}
