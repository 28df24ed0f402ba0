// Command stream learns a CSV stream row by row and prints its progressive error
// beside that of a linear model:
//
//	go run ./examples/stream testdata/elec.stream.csv.gz
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: stream FILE")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(path string) error {
	file, err := decode.Open(path, decode.Config{}, decode.Schema{})
	if err != nil {
		return err
	}
	defer file.Close()
	l, err := learner.New(learner.Config{})
	if err != nil {
		return err
	}
	batch := new(learner.Batch)
	for {
		row, err := file.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		batch.Reset(len(row.X))
		batch.Append(row.X, row.Label, row.Weight)
		predicted := l.Predict(batch) // publish predicted.Row(0), then
		l.Learn(predicted)
		if p := l.Progress(); p.Examples%10_000 == 0 {
			fmt.Printf("%6d examples: error %.4f, linear %.4f\n", p.Examples, p.Whole.Model.Error, p.Whole.Linear.Error)
		}
	}
	return nil
}
