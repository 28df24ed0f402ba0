package snapshot

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

// Difference is one respect in which two snapshots differ. For an array it gives the number of
// values that differ; otherwise it gives both values.
type Difference struct {
	What    string  `json:"what"`
	A       string  `json:"a,omitempty"`
	B       string  `json:"b,omitempty"`
	Values  int     `json:"values,omitempty"`  // of an array: number of values that differ
	Of      int     `json:"of,omitempty"`      // of an array: number of values
	Largest float64 `json:"largest,omitempty"` // largest difference of two values
}

func (d Difference) String() string {
	if d.Of > 0 {
		return fmt.Sprintf("%s: %d of %d values differ, by up to %g", d.What, d.Values, d.Of, d.Largest)
	}
	return fmt.Sprintf("%s: %s, %s", d.What, d.A, d.B)
}

// Diff compares two snapshots in everything except Info. The result is empty if both are snapshots
// of the same model at the same point of its history.
func Diff(a, b *Snapshot) (ds []Difference) {
	add := func(what string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			ds = append(ds, Difference{What: what, A: fmt.Sprint(a), B: fmt.Sprint(b)})
		}
	}
	add("model", a.Model, b.Model)
	add("epoch", a.Epoch, b.Epoch)
	add("seq", a.Seq, b.Seq)
	add("step", a.Step, b.Step)
	add("state", a.StateHash, b.StateHash)
	add("chain", a.Chain, b.Chain)
	add("lineage", a.Lineage, b.Lineage)
	add("rows", a.Rows, b.Rows)
	diffJSON(add, "options", a.Config, b.Config)
	diffJSON(add, "schema", a.Schema, b.Schema)
	diffPositions(add, "position", a.Positions, b.Positions)
	diffPositions(add, "learned position", a.LearnedTo, b.LearnedTo)
	in := func(s learner.State) map[string]learner.Array {
		m := map[string]learner.Array{}
		for _, x := range append(slices.Clone(s.Serving), s.Resuming...) {
			m[x.Name] = x
		}
		return m
	}
	as, bs := in(a.State), in(b.State)
	for _, name := range keys(as, bs) {
		x, inA := as[name]
		y, inB := bs[name]
		switch {
		case !inA || !inB:
			ds = append(ds, Difference{What: name, A: present(inA), B: present(inB)})
		case x.Shape != y.Shape || reflect.TypeOf(x.Data) != reflect.TypeOf(y.Data):
			ds = append(ds, Difference{What: name, A: shape(x), B: shape(y)})
		default:
			if d := diffValues(x.Data, y.Data); d.Values > 0 {
				d.What = name
				ds = append(ds, d)
			}
		}
	}
	return ds
}

func present(yes bool) string {
	if yes {
		return "present"
	}
	return "absent"
}

func shape(a learner.Array) string { return fmt.Sprintf("%d x %d %T", a.Shape[0], a.Shape[1], a.Data) }

func keys[V any](a, b map[string]V) (all []string) {
	for k := range a {
		all = append(all, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return all
}

// diffJSON compares two objects member by member, recursively.
func diffJSON(add func(string, any, any), what string, a, b []byte) {
	var x, y map[string]json.RawMessage
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		add(what, string(a), string(b))
		return
	}
	for _, k := range keys(x, y) {
		if string(x[k]) != string(y[k]) {
			diffJSON(add, what+"."+k, x[k], y[k])
		}
	}
}

func diffPositions(add func(string, any, any), what string, a, b []Position) {
	in := func(ps []Position) map[string]Position {
		m := map[string]Position{}
		for _, p := range ps {
			m[fmt.Sprintf("%s %s/%d", what, p.Topic, p.Partition)] = p
		}
		return m
	}
	as, bs := in(a), in(b)
	for _, k := range keys(as, bs) {
		add(k, fmt.Sprint(as[k].Next), fmt.Sprint(bs[k].Next))
		add(k+" topic id", as[k].TopicID, bs[k].TopicID)
	}
}

func diffValues(a, b any) (d Difference) {
	count := func(n int, same func(i int) bool, value func(i int) (float64, float64)) {
		d.Of = n
		for i := range n {
			if !same(i) {
				d.Values++
				x, y := value(i)
				d.Largest = max(d.Largest, math.Abs(x-y))
			}
		}
	}
	switch a := a.(type) {
	case []float64:
		b := b.([]float64)
		count(len(a), func(i int) bool { return math.Float64bits(a[i]) == math.Float64bits(b[i]) }, func(i int) (float64, float64) { return a[i], b[i] })
	case []float32:
		b := b.([]float32)
		count(len(a), func(i int) bool { return math.Float32bits(a[i]) == math.Float32bits(b[i]) }, func(i int) (float64, float64) { return float64(a[i]), float64(b[i]) })
	case []int64:
		b := b.([]int64)
		count(len(a), func(i int) bool { return a[i] == b[i] }, func(i int) (float64, float64) { return float64(a[i]), float64(b[i]) })
	case []byte:
		b := b.([]byte)
		count(len(a), func(i int) bool { return a[i] == b[i] }, func(i int) (float64, float64) { return float64(a[i]), float64(b[i]) })
	}
	return d
}
