package main

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// features bounds the size of the models, so that all runs take half an hour.
const features = 128

// orders is the number of orders of a set, and of stretches of a stream.
const orders = 3

var sets = []struct {
	name string
	task learner.Task
	rows int
}{
	{"letter.train", learner.Classification, 1200},
	{"spam.train", learner.Classification, 1500},
	{"kin40k.train", learner.Regression, 2000},
	{"elec.stream", learner.Classification, 3000},
}

// ways are the settings that use the constants of a package, or one of them,
// where those are not the defaults: algorithm/direction/on_drift/loss.
var ways = map[string]string{
	"ridge":                 "ridge///",
	"ridge.boostFactor":     "ridge//boost/",
	"ridge.forgetFactor":    "ridge//forget/",
	"drift":                 "ridge//boost/",
	"eigenpro":              "eigenpro///",
	"descent":               "all/precond//",
	"descent.defaultCap":    "cdsg///",
	"descent.ChoiceRows":    "all///",
	"descent.smallSizes":    "all/rate//",
	"descent.forgetFactor":  "all//forget/",
	"descent.ceilingMargin": "all/rate//",
	"descent.adagradStep":   "all/adagrad//",
	"descent.coolingSteps":  "all///corners",
	"newton.maxCurvature":   "newton///poisson",
}

func wayOf(name string) string {
	if way, ok := ways[name]; ok {
		return way
	}
	of, _, _ := strings.Cut(name, ".")
	if way, ok := ways[of]; ok {
		return way
	}
	return "newton///"
}

// errors are the progressive errors of sets, in several orders.
type errors map[string][]float64

// change describes e relative to the errors with the usual value: the mean
// change, and the set where it is the largest.
func (e errors) change(usual errors) string {
	same, total, most, where := true, 0.0, 0.0, ""
	for _, s := range sets {
		now, was := 0.0, 0.0
		for i, v := range e[s.name] {
			same = same && v == usual[s.name][i]
			now, was = now+v, was+usual[s.name][i]
		}
		percent := 100 * (now/was - 1)
		if math.IsNaN(percent) || math.IsInf(percent, 0) {
			percent = 0
		}
		total += percent
		if math.Abs(percent) >= math.Abs(most) {
			most, where = percent, strings.TrimSuffix(strings.TrimSuffix(s.name, ".train"), ".stream")
		}
	}
	if same {
		return "no effect"
	}
	return fmt.Sprintf("%+.1f %%, %s %+.1f %%", total/float64(len(sets)), where, most)
}

// printErrors learns all sets and prints their errors as JSON.
func printErrors(way string) error {
	parts := strings.Split(way, "/")
	if len(parts) != 4 {
		return fmt.Errorf("%s is not algorithm/direction/on_drift/loss", way)
	}
	e := errors{}
	for _, s := range sets {
		c := learner.Config{Algorithm: parts[0], Direction: parts[1], OnDrift: parts[2], MaxFeatures: features}
		shift := 0.0
		switch parts[3] {
		case "corners":
			c.Loss = map[learner.Task]string{learner.Classification: "hinge", learner.Regression: "absolute"}[s.task]
		case "poisson":
			if s.task == learner.Classification {
				continue
			}
			c.Loss, shift = "poisson", 5 // counts are not negative
		}
		x, y, dim, err := read(s.name)
		if err != nil {
			return err
		}
		for seed := range orders {
			v, err := progressive(c, x, y, dim, order(s.name, len(y), s.rows, seed), s.task, shift)
			if err != nil {
				return err
			}
			e[s.name] = append(e[s.name], v)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(e)
}

// order returns rows of a set in the order of a seed, or a stretch of a stream.
func order(name string, have, want, seed int) []int {
	if strings.HasSuffix(name, ".train") {
		return rand.New(rand.NewPCG(uint64(seed), 0)).Perm(have)[:want] // #nosec G404
	}
	stretch := make([]int, want)
	for i := range stretch {
		stretch[i] = seed*have/orders + i
	}
	return stretch
}

func progressive(c learner.Config, x, y []float64, dim int, rows []int, task learner.Task, shift float64) (float64, error) {
	l, err := learner.New(c)
	if err != nil {
		return 0, err
	}
	var b learner.Batch
	b.Reset(dim)
	classes := map[float64]int{} // in the order in which they appear
	for _, i := range rows {
		if _, ok := classes[y[i]]; !ok {
			classes[y[i]] = len(classes)
		}
		label := learner.Label{Task: task, Value: math.Max(0, y[i]+shift)}
		switch {
		case task == learner.Classification:
			label = learner.Label{Task: task, Class: classes[y[i]]}
		case shift == 0:
			label.Value = y[i]
		}
		b.Append(x[i*dim:(i+1)*dim], label, 1)
	}
	for rest := &b; rest.Len() > 0; {
		p := l.Predict(rest)
		rest = rest.Slice(p.Len(), rest.Len())
		l.Learn(p)
	}
	return l.Progress().Whole.Model.Error, nil
}

// read returns a set whose first column is its label and whose columns are numbers.
func read(name string) (x, y []float64, dim int, err error) {
	file, err := os.Open("testdata/" + name + ".csv.gz")
	if err != nil {
		return nil, nil, 0, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, nil, 0, err
	}
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		return nil, nil, 0, err
	}
	for _, row := range rows[1:] {
		for i, cell := range row {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				return nil, nil, 0, fmt.Errorf("%s: %w", name, err)
			}
			if i == 0 {
				y = append(y, v)
			} else {
				x = append(x, v)
			}
		}
	}
	return x, y, len(rows[0]) - 1, nil
}
