package history

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// A column that records lack while another of its type has appeared may have a new name. The
// model predicts the rows after the adoption with the new column in its place as well, and reads
// it so from the row on at which that is better. Like the comparison with the trial, all of it
// follows from the rows, whichever way they were cut into BATCHes.

// alias is a column of the model that is read from a column of the records which the model does
// not have, in rows that lack its own value.
type alias struct {
	column, from int
	step         int64 // of the model, since which it is
}

// rename is a column of the model that may be called like another of the records now.
type rename struct {
	column, from int
	rows         int64  // that were compared
	paired              // reading it so with not doing so
	aligned      paired // with reading it so in the row of another value

	values int64          // of the other column
	recent [shift]float64 // the last of them; that with number n at n % shift
}

const (
	// firstLook is the number of labelled rows after an adoption from which on names are
	// compared. Rows before it end the pairs of columns that occur in the same record, which
	// are nearly all of them, and need no prediction.
	firstLook = 16

	// lastLook is the number of rows after which no new name is found: then the trial has
	// learned enough to predict instead.
	lastLook = firstTrial

	// mostPairs bounds the pairs of columns that wait for labelled rows, of all adoptions.
	mostPairs = 1024

	// mostNames bounds the pairs of columns that are compared, each of which takes a prediction
	// for each row.
	mostNames = 16

	// leastCompared is the number of rows below which the error of the mean of their losses is
	// not known well enough.
	leastCompared = 30

	// leastGain is the part of the loss by which it has to be less. A column that hardly matters
	// is as good as one of noise in its place, and which of them is less happens by chance.
	leastGain = 0.05

	// shift is how many rows earlier the value is which the other column has in a row for the
	// sake of comparison. It has the same distribution and says nothing about the row: values
	// that are better than none wherever they are, for example because they are so large that
	// the model ignores the column, are no new name.
	shift = firstLook

	// renamePass bounds the rows that are predicted together, of which one has a label, while names
	// are compared.
	renamePass = 32
)

// nextLook returns the number of rows after which names are compared next: 16, 32, 48, 64, 96,
// 128, 192 and so on.
func nextLook(rows int64) int64 {
	for at := int64(firstLook); ; at *= 2 {
		if at > rows {
			return at
		}
		if half := at + at/2; half > rows && at > firstLook {
			return half
		}
	}
}

// maybeRenamed returns the pairs of columns that are to be compared after an adoption: those that
// were before, and the given ones. A column that has another name, or is one, is in none.
func (h *History) maybeRenamed(pairs [][2]int) (all []rename) {
	if t := h.adopted.trial; t != nil {
		for _, r := range t.renames {
			all = append(all, rename{column: r.column, from: r.from})
		}
	}
	for _, p := range pairs {
		if p[0] < h.adopted.columns && p[1] >= h.adopted.columns && !slices.ContainsFunc(h.adopted.aliases, func(a alias) bool { return a.column == p[0] || a.from == p[1] }) {
			all = append(all, rename{column: p[0], from: p[1]})
		}
	}
	return all[:min(len(all), mostPairs)]
}

// otherLosses are those of the rows of a pass for a pair of columns, read so and with another
// value in each row; NaN for a row that does not tell.
type otherLosses struct{ read, shifted []float64 }

// otherNames returns the losses of rows of b, from one on, for each pair of columns that is
// compared. It ends those pairs of which a row has both.
func (h *History) otherNames(b *Decided, rows *learner.Batch, from int) []otherLosses {
	t := h.adopted.trial
	if t == nil || len(t.renames) == 0 {
		return nil
	}
	all := b.Batch.Slice(from, from+rows.Len())
	t.renames = slices.DeleteFunc(t.renames, func(r rename) bool {
		for i := range all.Len() {
			if x := all.X(i); x[r.column] == x[r.column] && x[r.from] == x[r.from] {
				return true
			}
		}
		return false
	})
	// Names are compared on one labelled row at a time, the last of its pass: a mixture, and lags,
	// predict a row after the labelled ones before it in the pass, which are not to be read so.
	if t.rows < firstLook || all.Label(all.Len()-1).Task == learner.Auto {
		return nil
	}
	out := make([]otherLosses, len(t.renames))
	for k, r := range t.renames {
		read, shifted := rows.First(rows.Dim()), rows.First(rows.Dim())
		read.Fill(r.column, all, r.from)
		for i := range all.Len() {
			if x := shifted.X(i); x[r.column] != x[r.column] {
				x[r.column] = r.take(all.X(i)[r.from])
			}
		}
		out[k] = otherLosses{h.lossesOf(read), h.lossesOf(shifted)}
		for i := range out[k].read {
			if x := read.X(i)[r.column]; x != x || shifted.X(i)[r.column] != shifted.X(i)[r.column] || rows.X(i)[r.column] == x {
				out[k].read[i] = math.NaN()
			}
		}
	}
	return out
}

// take adds the value of the other column in the next row, and returns that of an earlier one;
// NaN if there is none, or either has none.
func (r *rename) take(v float64) (earlier float64) {
	if earlier = math.NaN(); v != v {
		return earlier
	}
	if r.values >= shift {
		earlier = r.recent[r.values%shift]
	}
	r.recent[r.values%shift] = v
	r.values++
	return earlier
}

// lossesOf returns the losses of a pass over rows, NaN for none.
func (h *History) lossesOf(rows *learner.Batch) []float64 { return h.losses(h.Learner.Predict(rows)) }

// compareNames compares the losses of a pass over rows of b, from one on, with those that
// otherNames has returned for them.
func (h *History) compareNames(b *Decided, from int, losses []float64, others []otherLosses) {
	for i, loss := range losses {
		x := b.Batch.X(from + i)
		for k := range h.adopted.trial.renames {
			r := &h.adopted.trial.renames[k]
			if x[r.column] != x[r.column] {
				r.take(x[r.from])
			}
			if others == nil || loss != loss || others[k].read[i] != others[k].read[i] {
				continue
			}
			r.rows++
			r.compare(others[k].read[i], loss, b.Batch.Weight(from+i))
			r.aligned.compare(others[k].read[i], others[k].shifted[i], b.Batch.Weight(from+i))
		}
	}
}

// rename has the model read columns by their new names if that is better by now. It reports
// whether there is one.
func (h *History) rename(b *Decided) bool {
	t := h.adopted.trial
	if t == nil || len(t.renames) == 0 || t.rows < firstLook || nextLook(t.rows-1) != t.rows {
		return false
	}
	t.renames = t.renames[:min(len(t.renames), mostNames)]
	before := len(h.adopted.aliases)
	for {
		best := -1
		for k := range t.renames {
			if r := &t.renames[k]; r.found() && (best < 0 || r.mean < t.renames[best].mean) {
				best = k
			}
		}
		if best < 0 {
			break
		}
		found := t.renames[best]
		h.adopted.aliases = append(slices.Clip(h.adopted.aliases), alias{found.column, found.from, h.adopted.former.Step + h.Learner.Progress().Step})
		t.renames = slices.DeleteFunc(t.renames, func(r rename) bool { return r.column == found.column || r.from == found.from })
	}
	if t.rows >= lastLook {
		t.renames = nil
	}
	if len(h.adopted.aliases) == before {
		return false
	}
	t.paired = paired{} // the model is another one
	for k := range t.renames {
		r := &t.renames[k]
		r.rows, r.paired, r.aligned = 0, paired{}, paired{}
	}
	h.adopted.renamed = append(h.adopted.renamed, h.aliased(new(decode.Schema), b.Schema).Aliases[before:]...)
	return true
}

// found reports whether a column is read better by another name.
func (r *rename) found() bool {
	return r.rows >= leastCompared && r.better() && r.aligned.better() && -r.mean > leastGain*math.Abs(r.loss-r.mean)
}

// aliased returns the schema of the model with the aliases that it has, of the columns of s.
func (h *History) aliased(model, s *decode.Schema) *decode.Schema {
	if len(h.adopted.aliases) == 0 {
		return model
	}
	of := *model
	for _, a := range h.adopted.aliases {
		of.Aliases = append(slices.Clip(of.Aliases), schema.Alias{Column: s.Columns[a.column], Field: s.Columns[a.from], Type: s.TypeOf(a.from), Step: a.step})
	}
	return &of
}

// Renamed returns the columns that are read by another name since the last BATCH.
func (h *History) Renamed() []schema.Alias { return h.adopted.renamed }

// Aliases returns the columns that are read by another name.
func (h *History) Aliases() []schema.Alias { return h.served().Aliases }
