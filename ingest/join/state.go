package join

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// Prefix is the prefix of the names of a Join's arrays in a snapshot.
const Prefix = "join."

const (
	headFields    = 5 + 8 // clock, ahead, behind, seq, values of a row, and Counts
	waitingFields = 7     // until, seq, time, bytes of both keys, values kept, class
	earlyFields   = 7     // until, seq, time, bytes of the key, task, class, values
	doneFields    = 4     // until, seq, bytes of the key, digest
)

// totals returns the fields of Counts in the order of a snapshot.
func (c *Counts) totals() [8]*int64 {
	return [8]*int64{&c.Matched, &c.TimedOut, &c.Evicted, &c.Late, &c.Duplicate, &c.Contradicting, &c.Unmatched, &c.Repeated}
}

// State returns a copy of the state as arrays of a snapshot. Equal states have equal arrays:
// entries are sorted by the time when they expire.
func (j *Join) State() []learner.Array {
	var keys []byte
	var rows, weights, kept, values []float64
	var wait, soon, over []int64
	dim := 0
	for _, e := range j.sorted(waiting) {
		v := e.event
		dim = len(v.X)
		wait = append(wait, e.until, e.seq, v.Time, int64(len(e.key)), int64(len(v.Key)), int64(len(v.Kept)), int64(v.Class))
		keys = append(append(keys, e.key...), v.Key...)
		rows, weights, kept = append(rows, v.X...), append(weights, v.Weight), append(kept, v.Kept...)
	}
	for _, e := range j.sorted(early) {
		y := &e.label
		soon = append(soon, e.until, e.seq, e.time, int64(len(e.key)), int64(y.Task), int64(y.Class), int64(1+len(y.More)))
		keys = append(keys, e.key...)
		values = append(append(values, y.Value), y.More...)
	}
	for _, e := range j.sorted(done) {
		over = append(over, e.until, e.seq, int64(len(e.key)), int64(e.learned))
		keys = append(keys, e.key...)
	}
	head := []int64{j.clock, j.ahead, j.behind, j.seq, int64(dim)}
	for _, n := range j.counts.totals() {
		head = append(head, *n)
	}
	return []learner.Array{
		array("head", headFields, head), array("waiting", waitingFields, wait), array("early", earlyFields, soon), array("done", doneFields, over),
		array("keys", 1, keys), array("x", max(1, dim), rows), array("weights", 1, weights), array("kept", 1, kept), array("values", 1, values),
	}
}

func array[T float64 | int64 | byte](name string, columns int, data []T) learner.Array {
	if data == nil {
		data = []T{}
	}
	return learner.Array{Name: Prefix + name, Shape: [2]int{len(data) / columns, columns}, Data: data}
}

func (j *Join) sorted(k kind) []*entry {
	all := slices.Clone(j.queues[k])
	slices.SortFunc(all, func(a, b *entry) int {
		if a.until != b.until {
			if a.until < b.until {
				return -1
			}
			return 1
		}
		if a.seq < b.seq {
			return -1
		}
		return 1
	})
	return all
}

// Split separates the arrays of a snapshot into those of a Join (own) and all others (rest).
func Split(all []learner.Array) (rest, own []learner.Array) {
	for i, a := range all {
		if strings.HasPrefix(a.Name, Prefix) {
			rest = append(slices.Clone(all[:i]), rest...)
			for _, a := range all[i:] {
				if strings.HasPrefix(a.Name, Prefix) {
					own = append(own, a)
				} else {
					rest = append(rest, a)
				}
			}
			return rest, own
		}
	}
	return all, nil
}

// Checks is used to validate a restored Join against the model that it belongs to.
type Checks struct {
	Inputs  int                         // number of values in a row of the model; 0 if it has no columns yet
	Classes int                         // number of its classes
	Kept    func(kept []float64) error  // returns an error for Event.Kept that its learner cannot have made
	Label   func(y learner.Label) error // returns an error for a label that it cannot learn
}

// Restore returns a Join with the state in arrays. It validates them, because they may come from
// an untrusted source.
func Restore(c Config, arrays []learner.Array, model Checks) (*Join, error) {
	r := &reader{in: arrays, model: model}
	head := take[int64](r, "head", headFields)
	wait, soon, over := take[int64](r, "waiting", waitingFields), take[int64](r, "early", earlyFields), take[int64](r, "done", doneFields)
	r.keys = take[byte](r, "keys", 1)
	dim := 1
	if r.err == nil && len(head) == headFields && head[4] > 0 {
		dim = int(head[4])
	}
	rows, weights := take[float64](r, "x", dim), take[float64](r, "weights", 1)
	kept, values := take[float64](r, "kept", 1), take[float64](r, "values", 1)
	j := New(c)
	n := len(wait) / waitingFields
	switch {
	case r.err != nil:
		return nil, r.err
	case len(r.in) > 0 || len(head) != headFields:
		return nil, fmt.Errorf("join: %d arrays too many, %d values in front", len(r.in), len(head))
	case n > c.Pending || len(soon) > c.Pending*earlyFields || len(over) > c.Pending*doneFields:
		return nil, fmt.Errorf("join: more entries than the limit of %d", c.Pending)
	case len(weights) != n || n == 0 && len(rows) > 0 || n > 0 && (int(head[4]) != model.Inputs || len(rows) != n*dim):
		return nil, fmt.Errorf("join: %d values of rows of %d and %d weights for %d keys, the model has %d inputs", len(rows), head[4], len(weights), n, model.Inputs)
	}
	j.clock, j.ahead, j.behind, j.seq = head[0], head[1], head[2], head[3]
	r.require(j.behind > -confirmations && j.behind < confirmations, "%d successive times behind", j.behind)
	for i, to := range j.counts.totals() {
		*to = head[headFields-8+i]
		r.require(*to >= 0, "a count is negative")
	}
	for i := range n {
		v := &Event{X: rows[i*dim : (i+1)*dim : (i+1)*dim], Weight: weights[i]}
		kept = r.event(j, v, wait[i*waitingFields:], kept)
	}
	for i := range len(soon) / earlyFields {
		values = r.early(j, soon[i*earlyFields:], values)
	}
	for i := range len(over) / doneFields {
		f := over[i*doneFields:]
		r.put(j, &entry{kind: done, until: f[0], seq: f[1], learned: uint64(f[3]), key: r.key(f[2])})
	}
	r.require(len(r.keys) == 0 && len(kept) == 0 && len(values) == 0, "values without an entry")
	if r.err != nil {
		return nil, r.err
	}
	return j, nil
}

// reader reads arrays, up to the first error.
type reader struct {
	in    []learner.Array
	keys  []byte
	model Checks
	err   error
}

// event adds features that wait for their label. It takes their Kept from the beginning of kept
// and returns the rest.
func (r *reader) event(j *Join, v *Event, f []int64, kept []float64) (rest []float64) {
	e := &entry{kind: waiting, until: f[0], seq: f[1], event: v, key: r.key(f[3])}
	v.Time, v.Key, v.Class = f[2], r.key(f[4]), int(f[6])
	v.Kept, rest = r.cut(kept, f[5])
	r.require(f[6] >= -1 && f[6] < max(1, int64(r.model.Classes)), "class %d of %d", f[6], r.model.Classes)
	r.require(v.Weight > 0 && !math.IsInf(v.Weight, 0), "a weight is %v", v.Weight)
	r.finite(v.Kept)
	for k, x := range v.X {
		r.require(!math.IsInf(x, 0), "a value is infinite")
		if x != x {
			v.X[k] = math.NaN() // in its canonical representation
		}
	}
	if r.err == nil {
		r.err = r.model.Kept(v.Kept)
	}
	r.put(j, e)
	return rest
}

// early adds a label that waits for its features. It takes its values from the beginning of
// values and returns the rest.
func (r *reader) early(j *Join, f []int64, values []float64) (rest []float64) {
	e := &entry{kind: early, until: f[0], seq: f[1], time: f[2], key: r.key(f[3])}
	v, rest := r.cut(values, f[6])
	r.require(len(v) > 0 && len(v) <= learner.MaxTargets && f[4] >= 1 && f[4] <= 2 && f[5] >= 0 && f[5] < 1<<31, "an invalid label")
	r.finite(v)
	if r.err == nil {
		e.label = learner.Label{Task: learner.Task(f[4]), Class: int(f[5]), Value: v[0]}
		if len(v) > 1 {
			e.label.More = v[1:]
		}
		r.err = r.model.Label(e.label)
	}
	r.put(j, e)
	return rest
}

func (r *reader) require(ok bool, format string, args ...any) {
	if !ok && r.err == nil {
		r.err = fmt.Errorf("join: "+format, args...)
	}
}

func (r *reader) finite(all []float64) {
	for _, v := range all {
		r.require(!math.IsNaN(v) && !math.IsInf(v, 0), "a value is %v", v)
	}
}

func take[T float64 | int64 | byte](r *reader, name string, columns int) []T {
	if r.err != nil {
		return nil
	}
	if len(r.in) == 0 || r.in[0].Name != Prefix+name {
		r.require(false, "%s is missing", name)
		return nil
	}
	a := r.in[0]
	r.in = r.in[1:]
	data, ok := a.Data.([]T)
	r.require(ok && a.Shape[1] == columns && len(data) == a.Shape[0]*columns, "%s has the shape %v", name, a.Shape)
	return slices.Clone(data)
}

// cut returns the first n values, and the rest.
func (r *reader) cut(all []float64, n int64) (first, rest []float64) {
	if r.require(n >= 0 && n <= int64(len(all)), "%d values where %d are left", n, len(all)); r.err != nil {
		return nil, all
	}
	return all[:n:n], all[n:]
}

// key returns the next n bytes of the keys.
func (r *reader) key(n int64) string {
	if r.require(n >= 0 && n <= int64(len(r.keys)), "a key of %d bytes where %d are left", n, len(r.keys)); r.err != nil {
		return ""
	}
	key := string(r.keys[:n])
	r.keys = r.keys[n:]
	return key
}

// put adds an entry to j.
func (r *reader) put(j *Join, e *entry) {
	_, twice := j.entries[e.key]
	if r.require(!twice && e.seq >= 0 && e.seq < j.seq, "an entry comes twice or has the number %d of %d", e.seq, j.seq); r.err == nil {
		j.entries[e.key] = e
		j.queues[e.kind].push(e)
		j.bytes += e.bytes()
	}
}
