package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// orders is the number of orders of a set, or of stretches of a stream, that are learned.
const orders = 3

// set is a data set of testdata. In each order, only some of its rows are learned.
type set struct {
	name    string // name of the file, followed by a colon and a suffix if the set is read in another way
	task    learner.Task
	label   string
	rows    int
	as      string    // type of all columns; if empty, it is inferred from the values
	missing float64   // share of the values that are removed
	normal  []float64 // classes that are not novelties; nil: all
	every   int       // of the rows of other classes, one in every is in the set
	sparse  bool      // columns are hashed, as with input.sparse
}

// table is a set in memory.
type table struct {
	x, y  []float64
	dim   int
	task  learner.Task
	types []learner.ColumnType

	sparse []learner.Sparse // of each row; nil if the set is not sparse
}

// read reads all rows. Labels are numbers, also for classes.
func (s *set) read() (*table, error) {
	name, _, _ := strings.Cut(s.name, ":")
	path := "testdata/" + name + ".csv.gz"
	c := decode.Config{Labels: []string{s.label}, Infer: true, Missing: "impute", Task: learner.Regression, Sparse: s.sparse} // classes are numbers in the files
	file, err := decode.Open(path, c, decode.Schema{})
	if err == nil && s.as != "" {
		c.Types = map[string]string{}
		for _, name := range file.Header() {
			if name != s.label {
				c.Types[name] = s.as
			}
		}
		file.Close()
		file, err = decode.Open(path, c, decode.Schema{})
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := &table{task: s.task}
	others, at := 0, []int(nil)
	rng := rand.New(rand.NewPCG(1, 2)) // #nosec G404
	for {
		row, err := file.Next()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		y := row.Label.Value
		if s.normal != nil {
			if slices.Contains(s.normal, y) {
				y = 0
			} else if y, others = 1, others+1; others%s.every != 0 {
				continue
			}
		}
		if at == nil {
			at = s.places(file.Header(), file.Schema().Columns)
		}
		if s.sparse {
			x := row.Sparse
			t.sparse = append(t.sparse, learner.Sparse{Columns: slices.Clone(x.Columns), Values: slices.Clone(x.Values)})
		}
		t.types = nil
		for _, j := range at {
			v := row.X[j]
			if s.missing > 0 && rng.Float64() < s.missing {
				v = math.NaN()
			}
			t.x = append(t.x, v)
			if row.Types != nil {
				t.types = append(t.types, row.Types[j])
			}
		}
		t.y, t.dim = append(t.y, y), len(at)
	}
}

// places returns the indices of the columns in a row, in the order of the header. The columns of a
// sparse set are projections, which are not in the header.
func (s *set) places(header, columns []string) (at []int) {
	if s.sparse {
		header = columns
	}
	for _, name := range header {
		if j := slices.Index(columns, name); j >= 0 {
			at = append(at, j)
		}
	}
	return at
}

// order returns the indices of rows: in an order drawn from the seed, or a stretch of a stream.
func (s *set) order(t *table, seed int) []int {
	have, want := len(t.y), min(s.rows, len(t.y))
	if strings.Contains(s.name, ".train") {
		return rand.New(rand.NewPCG(uint64(seed), 0)).Perm(have)[:want] // #nosec G404
	}
	stretch := make([]int, want)
	for i := range stretch {
		stretch[i] = seed*have/orders + i
	}
	return stretch
}
