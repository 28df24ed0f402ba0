package encode

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// columnFields are the columns of the array "encode.columns".
const (
	columnKind = iota
	columnParameters
	columnEntries
	columnFields
)

// Save puts e into the serving part of a State, if there is an encoding.
func (e *Encoding) Save(a *state.Arrays) {
	if e == nil {
		return
	}
	var columns, keys []int64
	var parameters, counts, decayed []float64
	for j := range e.columns {
		c := &e.columns[j]
		entries := 0
		if t := c.table; t != nil {
			entries = len(t.keys)
			for _, i := range t.order(func(a, b int) int { return int(min(1, max(-1, t.keys[a]-t.keys[b]))) }) {
				keys, counts = append(keys, t.keys[i]), append(counts, t.entry(i)...)
			}
		}
		if c.kind == asDecayed {
			decayed = append(append(decayed, c.table.growth), c.table.total...)
		}
		columns = append(columns, int64(c.kind), int64(len(c.parameters)), int64(entries))
		parameters = append(parameters, c.parameters...)
	}
	kind := 0.0
	if e.prior.classes {
		kind = 1
	}
	if e.prior.groups {
		kind = 2
	}
	state.Own(a, "encode.columns", columnFields, columns)
	state.Own(a, "encode.parameters", 1, parameters)
	state.Own(a, "encode.prior", 2+len(e.prior.sums), append([]float64{kind, e.prior.weight}, e.prior.sums...))
	state.Own(a, "encode.keys", 1, keys)
	state.Own(a, "encode.counts", 1+len(e.prior.sums), counts)
	if decayed != nil {
		state.Own(a, "encode.decayed", 2+len(e.prior.sums), decayed)
	}
}

// Load reads what Save wrote for raw rows of dim values; nil if there is no encoding.
func Load(s *state.Reader, dim int) *Encoding {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "encode.columns" {
		return nil
	}
	columns := state.Take[int64](s, "encode.columns", dim, columnFields)
	parameters := state.Take[float64](s, "encode.parameters", state.AnySize, 1)
	prior := state.TakeRow[float64](s, "encode.prior")
	n := len(prior) - 2
	s.Require(n >= 1 && n <= maxTargets && (prior[0] == 0 || prior[0] == 1 || prior[0] == 2 && n == maxTargets) && prior[1] >= 0, "encode.prior has %d values", len(prior))
	keys := state.Take[int64](s, "encode.keys", state.AnySize, 1)
	counts := state.Take[float64](s, "encode.counts", len(keys), 1+n)
	if s.Err != nil {
		return nil
	}
	e := &Encoding{columns: make([]column, dim)}
	e.prior.classes, e.prior.groups = prior[0] > 0, prior[0] == 2
	e.prior.weight, e.prior.sums = prior[1], prior[2:]
	for j := range e.columns {
		c, row := &e.columns[j], columns[j*columnFields:]
		kind, params, entries := row[columnKind], row[columnParameters], row[columnEntries]
		s.Require(kind >= 0 && kind < int64(len(encoders)), "an encoder %d", kind)
		s.Require(params >= 0 && params <= int64(len(parameters)), "an encoder of %d parameters", params)
		s.Require(entries >= 0 && entries <= int64(len(keys)) && entries <= maxEntries, "a category of %d values", entries)
		if s.Err != nil {
			return nil
		}
		c.kind, c.parameters = int(kind), parameters[:params:params]
		s.Require(c.encoder().valid(c.parameters) && c.credible(n) && (c.kind != asSince || c.time() < j) && (entries == 0 || c.encoder().moves) && entries <= int64(c.mostEntries()), "encoder %s has %d parameters and %d values", c.encoder().name, params, entries)
		if c.encoder().moves {
			c.table = newTable(n)
			c.table.load(s, keys[:entries], counts[:int(entries)*(1+n)], c.kind == asSince)
		}
		parameters, keys, counts = parameters[params:], keys[entries:], counts[int(entries)*(1+n):]
	}
	s.Require(len(parameters) == 0 && len(keys) == 0, "encode: more than encode.columns says")
	s.Require(e.gramsFollow(), "encode: n-grams without their keys")
	e.loadDecayed(s)
	if s.Err != nil {
		return nil
	}
	e.setWidth()
	return e
}

// load takes entries, of times instead of weights for the encoder since.
func (t *table) load(s *state.Reader, keys []int64, counts []float64, times bool) {
	t.keys, t.counts = slices.Clone(keys), slices.Clone(counts)
	for i, k := range keys {
		s.Require(k >= missingKey && k < maxKey && (i == 0 || k > keys[i-1]), "encode.keys has %d", k)
		s.Require(t.entry(i)[0] >= 0 || times, "encode.counts: a weight of %v", t.entry(i)[0])
		t.index[k] = i
	}
}

// Column describes what a raw column becomes.
type Column struct {
	Width   int    // columns that the model sees
	Becomes string // a phrase
	Values  int    // of a category with statistics: values that are kept
}

// Columns describes the raw columns.
func (e *Encoding) Columns() []Column {
	all := make([]Column, len(e.columns))
	for j := range e.columns {
		c := &e.columns[j]
		all[j] = Column{Width: c.encoder().width(c, &e.prior), Becomes: c.encoder().becomes(c)}
		if c.table != nil {
			all[j].Values = len(c.table.keys)
		}
	}
	return all
}
