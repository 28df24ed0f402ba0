package papers

import (
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/papers/tasks"
	"github.com/accrete-ml/accrete/refit/metriclearn"
)

// A Set is a classification data set in memory.
type Set struct {
	Name        string
	Dim         int
	Classes     []string // class names
	Train, Test metriclearn.Task
}

// columnScales returns the greatest magnitude of each column, and at least
// 1e-9.
func (s *Set) columnScales() []float64 {
	scale := make([]float64, s.Dim)
	for k := range scale {
		scale[k] = 1e-9
		for i := k; i < len(s.Train.Points); i += s.Dim {
			scale[k] = max(scale[k], math.Abs(s.Train.Points[i]))
		}
	}
	return scale
}

// projected returns the problem of figure 2 on a set: class 1 against the
// others, as for the paper's Covtype, with its d, λ₁ and λ₂.
func (s *Set) projected() *contest {
	scale := s.columnScales()
	x, b := make([]float64, len(s.Train.Points)), make([]float64, len(s.Train.Classes))
	for i, v := range s.Train.Points {
		x[i] = v / scale[i%s.Dim]
	}
	for i, class := range s.Train.Classes {
		if s.Classes[class] == "1" {
			b[i] = 1
		}
	}
	return projectedContest(s.Name, x, b, s.Dim, s.Dim/2, 20, 1e-4, 1e-2)
}

// tasks splits a set into tasks of five classes each. Of each class, the first
// 40 rows in an order drawn from the seed are for learning, and all test rows
// for checking. Columns are divided by their greatest magnitude.
func (s *Set) tasks(seed uint64) (learn, check []metriclearn.Task) {
	const each, rows = 5, 40
	learn, check = make([]metriclearn.Task, len(s.Classes)/each), make([]metriclearn.Task, len(s.Classes)/each)
	scale := s.columnScales()
	add := func(to []metriclearn.Task, x []float64, class int) {
		task := class / each
		if task >= len(to) {
			return
		}
		for k, v := range x {
			to[task].Points = append(to[task].Points, v/scale[k])
		}
		to[task].Classes = append(to[task].Classes, class)
	}
	seen := make([]int, len(s.Classes))
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(s.Train.Classes)) {
		class := s.Train.Classes[i]
		if seen[class]++; seen[class] <= rows {
			add(learn, s.Train.Points[i*s.Dim:(i+1)*s.Dim], class)
		}
	}
	for i, class := range s.Test.Classes {
		add(check, s.Test.Points[i*s.Dim:(i+1)*s.Dim], class)
	}
	return learn, check
}

// relatedTasks returns generated tasks from the package tasks.
func relatedTasks(seed uint64, n, train, test, dim int) (learn, check []metriclearn.Task) {
	a, b := tasks.Related(seed, n, train, test, dim)
	for j := range a {
		learn, check = append(learn, metriclearn.Task(a[j])), append(check, metriclearn.Task(b[j]))
	}
	return learn, check
}
