package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
)

// rareError returns an error if --rare is out of range, or if --rare-class is used without it.
func (c *Command) rareError() error {
	switch {
	case c.RareClass != "" && c.Rare == 0:
		return exit.Usage("--rare-class %s: it is for --rare", c.RareClass)
	case c.Rare != 0 && !(c.Rare > 0 && c.Rare <= 0.5):
		return exit.Usage("--rare is %v: want more than 0 and at most 0.5", c.Rare)
	}
	return nil
}

// rarer returns the rows of s as two classes. The rare class consists of the rows of --rare-class,
// by default the class with the fewest rows, or of the rows with the greatest labels if these are
// numbers. Its share of the rows is --rare: rows of the class that has too many are left out at
// random, with the seed.
func (c *Command) rarer(s *set, seed uint64) (*set, error) {
	o, schema := *s, *s.schema
	name := "greatest"
	var isRare func(decode.Row) bool
	switch {
	case s.task == learner.Classification:
		class := c.rareClass(s)
		if class < 0 {
			return nil, fmt.Errorf("%w: it has no class %q, or no other", errUnfit, c.RareClass)
		}
		name = schema.Classes[class]
		isRare = func(r decode.Row) bool { return r.Label.Class == class }
	case s.task == learner.Regression && c.RareClass == "" && len(s.rows) > 0:
		least := quantile(s.rows, 1-c.Rare)
		isRare = func(r decode.Row) bool { return r.Label.Value > least }
	default:
		return nil, fmt.Errorf("%w: --rare is for classes and numbers, --rare-class for classes", errUnfit)
	}
	o.task = learner.Classification
	schema.Task, schema.Classes = o.task.String(), []string{"other", name}
	o.schema = &schema
	r := rand.New(rand.NewPCG(seed, 1))
	o.rows = inShare(s.rows, isRare, c.Rare, r)
	o.test = inShare(s.test, isRare, c.Rare, r)
	return &o, nil
}

// rareClass returns the class of --rare-class or, without it, the class with the fewest training
// rows. It returns -1 if that class has no rows or all of them.
func (c *Command) rareClass(s *set) int {
	counts := make([]int, len(s.schema.Classes))
	for _, r := range s.rows {
		counts[r.Label.Class]++
	}
	class := slices.Index(s.schema.Classes, c.RareClass)
	for j, n := range counts {
		if c.RareClass == "" && n > 0 && (class < 0 || n < counts[class]) {
			class = j
		}
	}
	if class < 0 || counts[class] == 0 || counts[class] == len(s.rows) {
		return -1
	}
	return class
}

// quantile returns the label that a share of the rows does not exceed.
func quantile(rows []decode.Row, share float64) float64 {
	values := make([]float64, len(rows))
	for i, r := range rows {
		values[i] = r.Label.Value
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(math.Ceil(share*float64(len(values))))-1)]
}

// inShare returns rows in their order, with the class 1 for those that are rare and 0 for the
// others. It omits rows at random so that the rare ones have the share, to the nearest row.
func inShare(rows []decode.Row, isRare func(decode.Row) bool, share float64, r *rand.Rand) []decode.Row {
	var of [2][]int // indices of the rows of both classes
	for i, row := range rows {
		of[class(isRare(row))] = append(of[class(isRare(row))], i)
	}
	want := [2]int{
		int(math.Round(float64(len(of[1])) * (1 - share) / share)),
		int(math.Round(float64(len(of[0])) * share / (1 - share))),
	}
	kept := make([]bool, len(rows))
	for j, indices := range of {
		for _, k := range r.Perm(len(indices))[:min(len(indices), want[j])] {
			kept[indices[k]] = true
		}
	}
	var out []decode.Row
	for i, row := range rows {
		if kept[i] {
			row.Label = learner.Label{Task: learner.Classification, Class: class(isRare(row))}
			out = append(out, row)
		}
	}
	return out
}

func class(rare bool) int {
	if rare {
		return 1
	}
	return 0
}

// weighingError returns an error if --balance or --half-life is invalid, or if only one of
// --half-life and --time is used.
func (c *Command) weighingError() error {
	halfLife, err := config.ParseHalfLife(c.HalfLife)
	switch {
	case err != nil:
		return exit.Flag("half-life", err)
	case (halfLife > 0) != (c.Time != ""):
		return exit.Usage("--half-life and --time need each other")
	}
	if _, err := (learner.Config{Task: learner.Classification, Balance: c.Balance}).Effective(); err != nil {
		return exit.Usage("--balance: %w", err)
	}
	return nil
}
