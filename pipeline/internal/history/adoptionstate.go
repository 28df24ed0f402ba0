package history

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// adoptedPrefix begins the names of the arrays of adopted columns in a snapshot. They are the head,
// the sums of the comparison, a list with the names of the arrays of the trial, and these arrays,
// named by their index.
const adoptedPrefix = "adopted."

const (
	// adoptedHead is the length of the head: columns of the model; rows, steps and both kinds of
	// alarms of former; columns, rows and number of serving arrays of the trial.
	adoptedHead = 8
	adoptedSums = 4
)

// state returns the arrays of adopted columns for a snapshot; nil if none were adopted.
func (a *adopted) state() []learner.Array {
	if a.columns == 0 {
		return nil
	}
	f := &a.former
	head, sums := []int64{int64(a.columns), f.Examples, f.Step, f.Drifts.ADWIN, f.Drifts.PageHinkley, 0, 0, 0}, make([]float64, adoptedSums)
	names, arrays := []string{}, []learner.Array(nil)
	if t := a.trial; t != nil {
		s := t.learner.State()
		head[5], head[6], head[7] = int64(t.columns), t.rows, int64(len(s.Serving))
		sums = []float64{t.compared, t.loss, t.mean, t.squares}
		for i, array := range append(s.Serving, s.Resuming...) {
			names = append(names, array.Name)
			array.Name = fmt.Sprintf("%s%d", adoptedPrefix, i)
			arrays = append(arrays, array)
		}
	}
	list, _ := json.Marshal(names) // no error occurs for strings
	return slices.Concat([]learner.Array{
		{Name: adoptedPrefix + "head", Shape: [2]int{1, adoptedHead}, Data: head},
		{Name: adoptedPrefix + "sums", Shape: [2]int{1, adoptedSums}, Data: sums},
		{Name: adoptedPrefix + "names", Shape: [2]int{len(list), 1}, Data: list},
	}, a.renamesState(), arrays)
}

// splitAdopted separates the arrays of adopted columns from all arrays. They are the last ones.
func splitAdopted(all []learner.Array) (rest, own []learner.Array) {
	for i, a := range all {
		if strings.HasPrefix(a.Name, adoptedPrefix) {
			return all[:i:i], all[i:]
		}
	}
	return all, nil
}

// thawAdopted restores what state has saved. Before the call, the schema of h is that of the model;
// after it, that of the records.
func (h *History) thawAdopted(c learner.Config, own []learner.Array) error {
	a := &h.adopted
	a.config = c
	served := len(h.Schema.Columns)
	h.Schema = h.Schema.Whole()
	if len(own) == 0 {
		if len(h.Schema.Columns) != served {
			return fmt.Errorf("adopted: columns without a state")
		}
		return nil
	}
	own, named := splitRenames(own)
	var head []int64
	var sums []float64
	var list []byte
	if len(own) >= 3 {
		head, _ = own[0].Data.([]int64)
		sums, _ = own[1].Data.([]float64)
		list, _ = own[2].Data.([]byte)
	}
	var names []string
	if len(head) != adoptedHead || len(sums) != adoptedSums || json.Unmarshal(list, &names) != nil || len(names) != len(own)-3 {
		return fmt.Errorf("adopted: %d arrays, which are not those of adopted columns", len(own))
	}
	for i, n := range head {
		if n < 0 && (i < 2 || i > 4) { // a trial may have had more steps and alarms than the model before it
			return fmt.Errorf("adopted: a count is %d", n)
		}
	}
	a.columns = int(head[0])
	if a.columns != served {
		return fmt.Errorf("adopted: the model has %d columns, and its schema %d", a.columns, served)
	}
	a.former.Examples, a.former.Step = head[1], head[2]
	a.former.Drifts = learner.Drifts{ADWIN: head[3], PageHinkley: head[4]}
	if head[5] == 0 {
		if len(names) > 0 {
			return fmt.Errorf("adopted: arrays without a trial")
		}
		return h.thawRenames(named)
	}
	t := &trial{columns: int(head[5]), rows: head[6], paired: paired{sums[0], sums[1], sums[2], sums[3]}}
	if t.columns <= a.columns || t.columns > len(h.Schema.Columns) || head[7] > int64(len(names)) {
		return fmt.Errorf("adopted: a trial with %d of %d columns, the model has %d", t.columns, len(h.Schema.Columns), a.columns)
	}
	for _, v := range sums {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("adopted: a sum is %v", v)
		}
	}
	var s learner.State
	for i, array := range own[3:] {
		array.Name = names[i]
		if int64(i) < head[7] {
			s.Serving = append(s.Serving, array)
		} else {
			s.Resuming = append(s.Resuming, array)
		}
	}
	var err error
	if t.learner, err = learner.Restore(c, s); err != nil {
		return fmt.Errorf("adopted: %w", err)
	}
	if p := t.learner.Progress(); p.Examples != t.rows {
		return fmt.Errorf("adopted: a trial of %d rows has learned %d", t.rows, p.Examples)
	}
	a.trial = t
	return h.thawRenames(named)
}
