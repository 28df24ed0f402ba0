package learner_test

import (
	"fmt"
	"log"

	"github.com/accrete-ml/accrete/learner"
)

// Every row is predicted before it is learned: the progressive error is honest.
func Example() {
	l, err := learner.New(learner.Config{MaxFeatures: 256})
	if err != nil {
		log.Fatal(err)
	}
	stream := waves(1, 3000)
	for stream.Len() > 0 {
		predicted := l.Predict(stream) // up to the row after which the model may change
		// Publish predicted.Row(0) to predicted.Row(predicted.Len()-1) here.
		stream = stream.Slice(predicted.Len(), stream.Len())
		l.Learn(predicted)
	}
	p := l.Progress()
	fmt.Printf("%d examples, nMSE below .05: %v, of a linear model above .5: %v\n",
		p.Examples, p.Recent.Model.Error < 0.05, p.Recent.Linear.Error > 0.5)
	// Output: 3000 examples, nMSE below .05: true, of a linear model above .5: true
}

// A learner that is restored from a State continues with the same bits.
func ExampleRestore() {
	config := learner.Config{MaxFeatures: 256}
	first, err := learner.New(config)
	if err != nil {
		log.Fatal(err)
	}
	learn(first, waves(1, 350))
	second, err := learner.Restore(config, first.State())
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		learn(first, waves(2, 50))
		learn(second, waves(2, 50))
		a, b := first.Predict(waves(3, 1)), second.Predict(waves(3, 1))
		fmt.Println(a.Row(0)[0] == b.Row(0)[0])
	}
	// Output:
	// true
	// true
	// true
}

// The serving arrays of a State are a model that predicts, for any number of
// goroutines with a Model each.
func ExampleNewModel() {
	l, err := learner.New(learner.Config{MaxFeatures: 256})
	if err != nil {
		log.Fatal(err)
	}
	learn(l, waves(1, 900))
	model, err := learner.NewModel(l.Serving())
	if err != nil {
		log.Fatal(err)
	}
	b := new(learner.Batch)
	b.Reset(1)
	b.Append([]float64{0.75}, learner.Label{}, 1) // sin(1.5) is .997
	predictions := model.Predict(b)
	fmt.Printf("%.1f\n", predictions.Row(0))
	// Output: [1.0]
}
