package dsg

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// ExactReport compares algorithms with LIBSVM by their error on the training rows, after the time
// that LIBSVM takes to converge: table 3 of Li and Póczos (2016).
type ExactReport struct {
	Set     string        `json:"set"`
	Rows    int           `json:"rows"`
	Seconds float64       `json:"seconds"` // time of LIBSVM
	Results []ExactResult `json:"results"`
	Skipped string        `json:"skipped,omitempty"` // reason if there are no results
}

// ExactResult is the result of one method.
type ExactResult struct {
	Method   string  `json:"method"`
	Features int     `json:"features"` // or support vectors
	Passes   float64 `json:"passes"`
	Error    float64 `json:"training_error"`
}

// exactPenalty is λ of table 2 of Li and Póczos. The parameter C of LIBSVM is 1/(λn).
const exactPenalty = 1e-5

// exact runs LIBSVM on the rows of a classification set, and then each algorithm for the same time.
func exact(ctx context.Context, s *Rows, clock func() float64, progress func(string)) (*ExactReport, error) {
	r := &ExactReport{Set: s.Name, Rows: len(s.Labels)}
	l, ok := findLIBSVM()
	if !ok {
		r.Skipped = NoLIBSVM
		return r, nil
	}
	progress(fmt.Sprintf("table 3: %s: LIBSVM", s.Name))
	rows := libsvmRows{x: standardized(s)}
	for _, y := range s.Labels {
		rows.class = append(rows.class, float64(y.Class))
	}
	got, err := l.run(ctx, rows, libsvmRows{}, s.Dim, medianDistance(rows.x, s.Dim), 1/(exactPenalty*float64(len(s.Labels))))
	if err != nil {
		return nil, err
	}
	r.Seconds = got.seconds
	r.Results = append(r.Results, ExactResult{Method: "LIBSVM", Features: got.vectors, Error: got.error})
	for _, name := range growthAlgorithms {
		one, err := s.inTime(ctx, name, got.seconds, clock, progress)
		if err != nil {
			return nil, err
		}
		r.Results = append(r.Results, one)
	}
	return r, nil
}

// inTime learns the rows of s repeatedly until that much processor time has passed.
func (s *Rows) inTime(ctx context.Context, name string, seconds float64, clock func() float64, progress func(string)) (ExactResult, error) {
	r := ExactResult{Method: name}
	l, err := learner.New(s.config(name, exactPenalty))
	if err != nil {
		return r, err
	}
	progress(fmt.Sprintf("table 3: %s: %s, for %.0f s", s.Name, name, seconds))
	n, learned := len(s.Labels), 0
	for from := clock(); clock()-from < seconds || learned == 0; {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		at := learned % n
		s.learn(l, at, min(at+256, n))
		learned += min(at+256, n) - at
	}
	r.Passes, r.Features = float64(learned)/float64(n), l.Progress().Features
	_, r.Error, err = s.training(l, n)
	return r, err
}

// learn predicts and learns the rows from index from up to, but not including, to.
func (s *Rows) learn(l *learner.Learner, from, to int) {
	for rest := s.batch(from, to); rest.Len() > 0; {
		p := l.Predict(rest)
		rest = rest.Slice(p.Len(), rest.Len())
		l.Learn(p)
	}
}

func (s *Rows) batch(from, to int) *learner.Batch {
	b := new(learner.Batch)
	b.Reset(s.Dim)
	for i := from; i < to; i++ {
		b.Append(s.X[i*s.Dim:(i+1)*s.Dim], s.Labels[i], 1)
	}
	return b
}

// training returns the mean loss and the share of wrong classes of the current model on the first n
// rows, or on all if there are fewer. The loss is the negative logarithm of the class's
// probability, or half of the squared error divided by the variance of the labels.
func (s *Rows) training(l *learner.Learner, n int) (loss, wrong float64, err error) {
	m, err := learner.NewModel(l.State().Serving)
	if err != nil {
		return 0, 0, err
	}
	n = min(n, len(s.Labels))
	mean, variance := 0.0, 0.0
	for _, y := range s.Labels {
		mean += y.Value / float64(len(s.Labels))
	}
	for _, y := range s.Labels {
		variance += (y.Value - mean) * (y.Value - mean) / float64(len(s.Labels))
	}
	p := m.Predict(s.batch(0, n))
	for i, y := range s.Labels[:n] {
		if y.Task == learner.Regression {
			d := p.Row(i)[0] - y.Value
			loss += d * d / 2 / variance
			continue
		}
		loss -= math.Log(max(p.Row(i)[y.Class], 1e-12))
		if learner.Best(p.Row(i)) != y.Class {
			wrong++
		}
	}
	return loss / float64(n), wrong / float64(n), nil
}

// standardized returns the columns of s minus their means, divided by their standard deviations
// unless these are 0, as float32.
func standardized(s *Rows) []float32 {
	n := float64(len(s.Labels))
	out := make([]float32, len(s.X))
	for j := range s.Dim {
		mean, squares := 0.0, 0.0
		for i := j; i < len(s.X); i += s.Dim {
			mean += s.X[i] / n
		}
		for i := j; i < len(s.X); i += s.Dim {
			squares += (s.X[i] - mean) * (s.X[i] - mean) / n
		}
		deviation := math.Sqrt(squares)
		if deviation == 0 {
			deviation = 1
		}
		for i := j; i < len(s.X); i += s.Dim {
			out[i] = float32((s.X[i] - mean) / deviation)
		}
	}
	return out
}

// first returns the first n rows, or all if there are fewer.
func (s *Rows) first(n int) *Rows {
	n = min(n, len(s.Labels))
	return &Rows{Name: s.Name, Dim: s.Dim, X: s.X[:n*s.Dim], Labels: s.Labels[:n], Settings: s.Settings}
}

// exactRows is the number of rows of table 3, for which LIBSVM takes seconds to minutes.
func (o *Options) exactRows() int {
	if o.Full {
		return 20000
	}
	return 5000
}

func (r *ExactReport) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n\ntable 3: %s, %d rows", r.Set, r.Rows)
	if r.Skipped != "" {
		fmt.Fprintf(b, "\n%s", r.Skipped)
		return
	}
	fmt.Fprintf(b, ": training error after %.2f s of processor time, in which LIBSVM converges\n%-8s %9s %9s %15s", r.Seconds, "", "features", "passes", "training error")
	for _, m := range r.Results {
		passes := fmt.Sprintf("%.1f", m.Passes)
		if m.Method == "LIBSVM" {
			passes = "-"
		}
		fmt.Fprintf(b, "\n%-8s %9d %9s %15.4f", m.Method, m.Features, passes, m.Error)
	}
}
