package history

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// A column may have got a new name if records lack it while another column of its type has
// appeared. On the rows after an adoption, the model therefore also predicts with the new column in
// the place of the missing one. It reads the column that way from the row on at which this is
// better. Like the comparison with the trial, all of this follows from the rows alone, however they
// were divided into BATCHes.

// alias says that the model reads a column from another column of the records, in rows that lack
// its own value. The model does not have that other column.
type alias struct {
	column, from int
	step         int64 // step of the model since which the alias applies
}

// rename is a pair of columns under comparison: a column of the model, and a column of the records
// that may be its new name.
type rename struct {
	column, from int
	rows         int64  // number of rows compared
	paired              // compares reading the column from the other one with leaving it missing
	aligned      paired // compares it with reading the value of an earlier row, see shift

	values int64          // number of values of the other column
	recent [shift]float64 // the last of these values; number n is at n % shift
}

const (
	// firstLook is the number of labelled rows after an adoption at which the comparison of names
	// begins. Until then, pairs of columns that occur in the same record are dropped. This takes no
	// prediction, and drops nearly all pairs.
	firstLook = 16

	// lastLook is the number of rows after which no new name is looked for: the trial has then
	// learned enough to replace the model.
	lastLook = firstTrial

	// mostPairs bounds the number of pairs of columns that wait for labelled rows, over all
	// adoptions.
	mostPairs = 1024

	// mostNames bounds the number of pairs of columns that are compared. Each takes predictions of
	// its own for every row.
	mostNames = 16

	// leastCompared is the number of rows that a comparison needs at least: with fewer, the
	// standard error of the mean of their losses is too uncertain.
	leastCompared = 30

	// leastGain is the share of the loss by which a new name has to reduce it. If a column hardly
	// matters, noise in its place is about as good, and it is a matter of chance which of the two
	// has the smaller loss.
	leastGain = 0.05

	// shift is how many values earlier the value of the other column is that is used for
	// comparison. Such a value has the same distribution, but says nothing about the row. Values
	// that improve the predictions wherever they are do not show a new name: they may, for example,
	// be so large that the model ignores the column.
	shift = firstLook

	// renamePass bounds the rows that are predicted together while names are compared. At most one
	// of them has a label.
	renamePass = 32
)

// nextLook returns the number of rows at which names are compared next: 16, 32, 48, 64, 96, 128,
// 192 and so on.
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

// maybeRenamed returns the pairs of columns to compare after an adoption: the pairs under
// comparison, which begin again, and the given ones. It omits a pair if one of its columns already
// has an alias or is one.
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

// otherLosses are the losses of the rows of a pass for a pair of columns: read is with the value of
// the other column, and shifted with its value in an earlier row. A loss is NaN for a row that
// cannot be compared.
type otherLosses struct{ read, shifted []float64 }

// otherNames returns, for each pair of columns that is compared, the losses of the rows of b from
// the given one on. It drops the pairs for which a row has values in both columns.
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
	// Names are compared on one labelled row at a time, the last of its pass. A mixture, or lags,
	// would make the prediction of a row depend on labelled rows before it in the pass, which are
	// not to be read by another name.
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

// take stores the value v of the other column in the next row, and returns its value shift values
// earlier. It returns NaN if v is missing or there is no earlier value.
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

// compareNames compares the losses of the rows of b from the given one on with those that
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

// rename adds aliases for the new names that are found by now, the best first. It reports whether
// it has added any.
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
	t.paired = paired{} // the model has changed, so comparisons begin again
	for k := range t.renames {
		r := &t.renames[k]
		r.rows, r.paired, r.aligned = 0, paired{}, paired{}
	}
	h.adopted.renamed = append(h.adopted.renamed, h.aliased(new(decode.Schema), b.Schema).Aliases[before:]...)
	return true
}

// found reports whether the comparisons show that the other column is the new name.
func (r *rename) found() bool {
	return r.rows >= leastCompared && r.better() && r.aligned.better() && -r.mean > leastGain*math.Abs(r.loss-r.mean)
}

// aliased returns the schema of the model with the aliases that apply. s is the schema of the
// records, from which they take names and types.
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
