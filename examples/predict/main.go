// Command predict loads a model that accrete fit --save has written, and predicts
// the rows of a file with it:
//
//	accrete fit testdata/spam.train.csv.gz --save spam.snap
//	go run ./examples/predict spam.snap testdata/spam.test.csv.gz
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: predict SNAPSHOT FILE")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(model, path string) error {
	b, err := os.ReadFile(model)
	if err != nil {
		return err
	}
	s, err := snapshot.Decode(b, 0) // verifies every byte
	if err != nil {
		return err
	}
	m, err := learner.NewModel(s.State.Serving)
	if err != nil {
		return err
	}
	var schema decode.Schema
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return err
	}
	task, err := learner.ParseTask(schema.Task)
	if err != nil {
		return err
	}
	file, err := decode.Open(path, decode.Config{Task: task}, schema)
	if err != nil {
		return err
	}
	defer file.Close()
	batch := new(learner.Batch)
	rows, wrong := 0, 0
	for {
		row, err := file.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		batch.Reset(len(row.X))
		batch.Append(row.X, row.Label, 1)
		predictions := m.Predict(batch)
		rows++
		if predictions.Task == learner.Classification && learner.Best(predictions.Row(0)) != row.Label.Class {
			wrong++
		}
	}
	fmt.Printf("model at step %d: %d rows, %d classified wrongly\n", s.Step, rows, wrong)
	return nil
}
