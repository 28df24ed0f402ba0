// Command predict loads a model that accrete fit --save has written, and predicts
// the rows of a file with it:
//
//	accrete fit testdata/spam.train.csv.gz --save spam.snap
//	go run ./examples/predict spam.snap testdata/spam.test.csv.gz
//
// It prints one prediction per line, the same as those of accrete predict, and at the end
// how many of the labels, if the file has any, are other classes.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
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
	m, err := serve.NewServed(s)
	if err != nil {
		return err
	}
	file, err := open(path, m)
	if err != nil {
		return err
	}
	defer file.Close()
	var batch learner.Batch // of one row; larger batches are faster
	rows, labels, wrong := 0, 0, 0
	for {
		row, err := file.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		batch.Reset(len(row.X))
		batch.Append(row.X, learner.Label{}, 1)
		batch.SetKey(string(row.Key))
		batch.SetWindows(row.Windows)
		batch.SetSparse(row.Sparse)
		m.Observe(&batch) // windows are over all earlier rows
		class := show(m.Predict(&batch), m.Schema.Classes)
		rows++
		if row.Label.Task == learner.Classification {
			labels++
			if row.Label.Class != class {
				wrong++
			}
		}
	}
	log.Printf("model at step %d: %d rows, %d of %d labels classified wrongly", s.Step, rows, wrong, labels)
	return nil
}

// open opens a file of rows for m. They are read like the records that m was trained on, with the same
// columns, types and treatment of missing values. The format may differ, and labels are optional.
func open(path string, m *serve.Served) (file *decode.File, err error) {
	if len(m.Schema.Columns) == 0 {
		return nil, errors.New("the model has seen no row, so it has no columns")
	}
	c := m.Decode
	c.Format, c.NoLabel = "", true
	if c.Task, err = learner.ParseTask(m.Schema.Task); err != nil {
		return nil, err
	}
	if file, err = decode.Open(path, c, m.Schema); err == nil {
		file.IgnoreFurther() // columns of the file that the model does not know
	}
	return file, err
}

// show prints the prediction of the only row of p, and returns the index of the predicted class; -1
// if it is no class.
func show(p learner.Predictions, classes []string) (class int) {
	switch row := p.Row(0); {
	case p.Size == 0:
		fmt.Println("none: the model has not learned enough rows")
	case p.Task == learner.Novelty:
		fmt.Println(learner.Novel(row))
	case p.Task == learner.Regression:
		fmt.Println(p.Quantiles.Points(nil, row)) // a number for each target
	default:
		rule := p.Decision
		if rule.Named() { // costs of wrong predictions, by the names of the classes
			rule = rule.Of(classes)
		}
		class = rule.Class(row)
		fmt.Println(classes[class])
		return class
	}
	return -1
}
