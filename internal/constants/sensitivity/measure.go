package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// errors has the errors on each set, in several orders of its rows.
type errors map[string][]float64

// change describes e relative to the errors with the usual value: it gives the mean change, and the
// set with the largest change.
func (e errors) change(usual errors) string {
	same, total, most, where := true, 0.0, 0.0, ""
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		of := usual[name]
		now, was := 0.0, 0.0
		for i, v := range e[name] {
			same = same && v == of[i]
			now, was = now+v, was+of[i]
		}
		percent := 100 * (now/was - 1)
		if math.IsNaN(percent) || math.IsInf(percent, 0) {
			percent = 0
		}
		total += percent
		if math.Abs(percent) >= math.Abs(most) {
			most, where = percent, strings.TrimSuffix(strings.TrimSuffix(name, ".train"), ".stream")
		}
	}
	if same {
		return "no effect"
	}
	return fmt.Sprintf("%+.1f %%, %s %+.1f %%", total/float64(len(usual)), where, most)
}

// measured learns the sets of a way and returns the errors.
func (w *way) measured() (errors, error) {
	e := errors{}
	for _, s := range w.sets {
		c, shift, ok := w.configOf(s.task)
		if !ok {
			continue
		}
		rows, err := s.read()
		if err != nil {
			return nil, err
		}
		for seed := range orders {
			l, err := learner.New(c)
			if err != nil {
				return nil, err
			}
			m := w.measure()
			learn(l, c.Task, m, rows, s.order(rows, seed), shift)
			e[s.name] = append(e[s.name], m.result(l))
		}
	}
	return e, nil
}

// learn predicts and learns rows in the given order. Unless shift is 0, labels of numbers are
// shifted by it, and bounded below by 0.
func learn(l *learner.Learner, task learner.Task, m measure, rows *table, order []int, shift float64) {
	var b learner.Batch
	b.Reset(rows.dim)
	b.SetTypes(rows.types)
	classes := map[float64]int{} // in the order in which they appear
	for _, i := range order {
		y := rows.y[i]
		if _, ok := classes[y]; !ok {
			classes[y] = len(classes)
		}
		label := learner.Label{Task: rows.task, Value: y}
		switch {
		case task == learner.Novelty:
			label = learner.Label{Task: learner.Novelty}
		case rows.task == learner.Classification:
			label = learner.Label{Task: rows.task, Class: classes[y]}
		case shift != 0:
			label.Value = math.Max(0, y+shift)
		}
		b.Append(rows.x[i*rows.dim:(i+1)*rows.dim], label, 1)
		if rows.sparse != nil {
			b.SetSparse(rows.sparse[i])
		}
	}
	at := 0
	for rest := &b; rest.Len() > 0; {
		p := l.Predict(rest)
		for i := range p.Len() {
			m.see(p, i, b.Label(at), rows.y[order[at]])
			at++
		}
		rest = rest.Slice(p.Len(), rest.Len())
		l.Learn(p)
	}
}
