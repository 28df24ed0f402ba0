package history

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

// The arrays of renamed columns in a snapshot. They follow the array with the names of the arrays
// of the trial, and there are only those that are needed:
//
//   - aliases: column, the column that it is read from, and step.
//   - renames, for each pair that is compared: both columns, rows, and number of values so far.
//   - losses, for each pair: the sums of its two comparisons, and its last values.
const (
	aliasesArray = adoptedPrefix + "aliases"
	renamesArray = adoptedPrefix + "renames"
	lossesArray  = adoptedPrefix + "losses"

	renamePairs = 4
	renameSums  = 2*adoptedSums + shift
)

func (a *adopted) renamesState() (all []learner.Array) {
	if n := len(a.aliases); n > 0 {
		var data []int64
		for _, r := range a.aliases {
			data = append(data, int64(r.column), int64(r.from), r.step)
		}
		all = append(all, learner.Array{Name: aliasesArray, Shape: [2]int{n, 3}, Data: data})
	}
	if a.trial == nil || len(a.trial.renames) == 0 {
		return all
	}
	var pairs []int64
	var sums []float64
	for _, r := range a.trial.renames {
		pairs = append(pairs, int64(r.column), int64(r.from), r.rows, r.values)
		for _, p := range []paired{r.paired, r.aligned} {
			sums = append(sums, p.compared, p.loss, p.mean, p.squares)
		}
		sums = append(sums, r.recent[:]...)
	}
	n := len(a.trial.renames)
	return append(all, learner.Array{Name: renamesArray, Shape: [2]int{n, renamePairs}, Data: pairs}, learner.Array{Name: lossesArray, Shape: [2]int{n, renameSums}, Data: sums})
}

// splitRenames separates the arrays of renamed columns from those of adopted columns.
func splitRenames(all []learner.Array) (rest []learner.Array, own map[string]any) {
	own = map[string]any{}
	for _, a := range all {
		if a.Name == aliasesArray || a.Name == renamesArray || a.Name == lossesArray {
			own[a.Name] = a.Data
		} else {
			rest = append(rest, a)
		}
	}
	return rest, own
}

// thawRenames restores what renamesState has saved. The trial must have been restored before.
func (h *History) thawRenames(own map[string]any) error {
	a := &h.adopted
	aliases, _ := own[aliasesArray].([]int64)
	pairs, _ := own[renamesArray].([]int64)
	sums, _ := own[lossesArray].([]float64)
	valid := func(column, from int64) bool {
		return 0 <= column && column < int64(a.columns) && int64(a.columns) <= from && from < int64(len(h.Schema.Columns))
	}
	for r := range slices.Chunk(aliases, 3) {
		if len(r) < 3 || !valid(r[0], r[1]) || r[2] < 0 || slices.ContainsFunc(a.aliases, func(b alias) bool { return b.column == int(r[0]) || b.from == int(r[1]) }) {
			return fmt.Errorf("adopted: an alias %v of %d columns", r, len(h.Schema.Columns))
		}
		a.aliases = append(a.aliases, alias{int(r[0]), int(r[1]), r[2]})
	}
	if len(pairs) > 0 && a.trial == nil || renameSums*len(pairs) != renamePairs*len(sums) {
		return fmt.Errorf("adopted: %d numbers of pairs of columns, %d of their losses", len(pairs), len(sums))
	}
	for r := range slices.Chunk(pairs, renamePairs) {
		if len(r) < renamePairs || !valid(r[0], r[1]) || r[2] < 0 || r[3] < 0 {
			return fmt.Errorf("adopted: a pair %v of %d columns", r, len(h.Schema.Columns))
		}
		of := sums[:renameSums]
		for _, v := range of {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("adopted: a sum or a value is %v", v)
			}
		}
		next := rename{column: int(r[0]), from: int(r[1]), rows: r[2], values: r[3], paired: paired{of[0], of[1], of[2], of[3]}, aligned: paired{of[4], of[5], of[6], of[7]}}
		copy(next.recent[:], of[2*adoptedSums:])
		a.trial.renames, sums = append(a.trial.renames, next), sums[renameSums:]
	}
	return nil
}
