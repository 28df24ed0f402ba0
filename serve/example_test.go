package serve_test

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
)

// A program trains a model on rows of its own, and writes a snapshot that every reader of snapshots
// accepts: its Schema names the columns and the classes. Another program predicts with it.
func ExampleNewServed() {
	l, err := learner.New(learner.Config{Task: learner.Classification, Algorithm: "ridge", MaxFeatures: 64})
	if err != nil {
		log.Fatal(err)
	}
	schema := decode.Schema{Columns: []string{"east", "north"}, Task: "classification", Classes: []string{"inside", "outside"}}
	rng := rand.New(rand.NewPCG(1, 1))
	var b learner.Batch
	b.Reset(len(schema.Columns))
	for range 1500 {
		x, y := 4*rng.Float64()-2, 4*rng.Float64()-2
		label := learner.Label{Task: learner.Classification, Class: 0}
		if x*x+y*y > 2 {
			label.Class = 1
		}
		b.Append([]float64{x, y}, label, 1)
	}
	step := int64(0)
	for from := 0; from < b.Len(); {
		p := l.Predict(b.Slice(from, b.Len()))
		from += p.Len()
		step = l.Learn(p).Step
	}

	columns, err := json.Marshal(schema)
	if err != nil {
		log.Fatal(err)
	}
	file, err := snapshot.Append(nil, &snapshot.Snapshot{Model: "circle", Step: step, Schema: columns, State: l.State()})
	if err != nil {
		log.Fatal(err)
	}

	s, err := snapshot.Decode(file, 0)
	if err != nil {
		log.Fatal(err)
	}
	m, err := serve.NewServed(s)
	if err != nil {
		log.Fatal(err)
	}
	options := m.Decode
	options.NoLabel = true // the records are rows to predict
	d, err := m.NewDecoder(options)
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range []string{`{"east":0.1,"north":0.2}`, `{"east":-1.5,"north":1.5}`} {
		row, err := d.Decode([]byte(record))
		if err != nil {
			log.Fatal(err)
		}
		b.Reset(len(row.X))
		b.Append(row.X, row.Label, 1)
		p := m.Predict(&b)
		fmt.Println(record, m.Schema.Classes[p.Decision.Class(p.Row(0))])
	}
	// Output:
	// {"east":0.1,"north":0.2} inside
	// {"east":-1.5,"north":1.5} outside
}
