package onnx

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Indices of the array "model" (snapshot/FORMAT.md).
const (
	task = iota
	_
	dim
	blockSize
	blocks
	seed
	_
	sampling
	sizes
)

// ownBlock is the largest block size of the random features of machines in a mixture, and of
// those for the variance with algorithms other than ridge.
const ownBlock = 64

// maxColumns bounds the size of a graph: each encoded column takes five nodes.
const maxColumns = 1024

// model is the serving part of a snapshot, which learner.NewModel has accepted.
type model struct {
	arrays map[string]learner.Array
	schema decode.Schema
	zeros  bool // missing numbers are 0
	sizes  []int64
	loss   string
	width  int          // number of encoded columns
	random features.Map // without a block size
	trees  *trees
}

// unwritten lists arrays that cannot be expressed in a graph. is names the feature of the model
// that an array belongs to, and the option to create a model without it.
var unwritten = []struct{ array, is string }{
	{"given.hash", "it has a learned metric: leave out learner.kernel.metric (fit --metric)"},
	{"leverage", "its sampling is leverage: set learner.sampling (fit --sampling) to iid"},
	{"costs", "it decides by costs of classes: set learner.costs (fit --costs) to none or f1"},
	{"windows.layout", "it has windows: leave out input.windows (fit --windows)"},
	{"sparse.shares", "it has a sparse member: leave out input.sparse (fit --sparse)"},
}

// changeColumns says how to create a model without a column that cannot be expressed in a graph.
const changeColumns = "leave it out of input.columns (fit --columns), or declare it as ignored there"

// written lists the arrays that can be expressed in a graph.
var written = []string{
	"model", "kernel", "loss", "label", "center", "scale", "metric", "second", "intercept", "kept", "coefficients", "forest.columns", "forest.thresholds", "forest.coefficients", "decision", "intervals", "variance", "posterior",
	"encode.columns", "encode.parameters", "encode.keys", "encode.counts", "encode.prior", "mixture.engine", "mixture.linear", "mixture.coefficients", "mixture.factor", "mixture.limits", "mixture.range", "mixture.slopes", "mixture.scaler",
}

// newModel returns the model of a snapshot, whose serving part is served.
func newModel(s *snapshot.Snapshot, served *learner.Model) (*model, error) {
	m := &model{arrays: map[string]learner.Array{}}
	for _, a := range s.State.Serving {
		m.arrays[a.Name] = a
	}
	options, err := record.ReadOptions(s.Config)
	if err != nil {
		return nil, fmt.Errorf("%w: options: %w", snapshot.ErrCorrupt, err)
	}
	if m.schema, err = record.ReadSchema(s.Schema); err != nil {
		return nil, err
	}
	if err := record.CheckModel(served, options, &m.schema); err != nil {
		return nil, fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	m.zeros, m.sizes, m.loss = options.Missing == "zero", numbers[int64](m, "model"), string(numbers[byte](m, "loss"))
	if len(m.sizes) < sizes {
		return nil, fmt.Errorf("%w: the array model has %d numbers", snapshot.ErrCorrupt, len(m.sizes))
	}
	m.width = m.arrays["center"].Shape[1]
	if m.trees, err = m.newTrees(); err != nil {
		return nil, err
	}
	return m, m.check()
}

// check returns an error if the model has a part that cannot be expressed in a graph.
func (m *model) check() error {
	for _, u := range unwritten {
		if _, ok := m.arrays[u.array]; ok {
			return unsupported("%s", u.is)
		}
	}
	for name := range m.arrays {
		if !slices.Contains(written, name) {
			return unsupported("its state has the array %s", name)
		}
	}
	name := string(numbers[byte](m, "kernel"))
	if name == "" {
		return unsupported("there was no first fit yet (the first rows only have intercepts)")
	}
	k, err := kernel.Parse(name)
	if err != nil {
		return err
	}
	m.random = features.Map{Kernel: k, Dim: m.width, Seed: uint64(m.sizes[seed]), Sampling: features.Sampling(m.sizes[sampling])}
	if second := numbers[float32](m, "second"); len(second) > 0 {
		m.random.Second = second
	}
	_, mapped := k.(kernel.Mapped)
	switch {
	case mapped || !m.random.AllowsSelection():
		return unsupported("its features, of the kernel %s and with the sampling %v, are no cosines and sines of stored frequencies: choose others with learner.kernel and learner.sampling (fit --kernel, --sampling), such as gaussian and iid", k, m.random.Sampling)
	case m.width > maxColumns:
		return unsupported("the model sees %d columns, the limit is %d: name fewer in input.columns (fit --columns)", m.width, maxColumns)
	}
	for i, t := range m.schema.Types {
		switch t {
		case "numeric", "boolean", "numeric:normal":
		case "window", "source":
			return unsupported("it has windows: leave out input.windows (fit --windows)")
		case "":
			return unsupported("column %s had no value: %s", m.schema.Columns[i], changeColumns)
		default:
			return unsupported("column %s has the type %s, and there are numbers and booleans only: %s", m.schema.Columns[i], t, changeColumns)
		}
	}
	return nil
}

// numbers returns the data of an array, or nil if the model has no such array.
func numbers[T float64 | float32 | int64 | byte](m *model, name string) []T {
	data, _ := m.arrays[name].Data.([]T)
	return data
}

// names returns the names of the columns as a JSON list, because they can contain any character.
func (m *model) names() string {
	b, _ := json.Marshal(m.schema.Columns) // a list of strings
	return string(b)
}

// aliases returns a JSON object that maps columns to the field from which they are read if a
// record lacks the column.
func (m *model) aliases() string {
	fields := map[string]string{}
	for _, a := range m.schema.Aliases {
		fields[a.Column] = a.Field
	}
	b, _ := json.Marshal(fields) // texts
	return string(b)
}

// frequencies returns the frequencies of the first blocks, with size random features each. A
// frequency has width numbers, in half turns.
func (m *model) frequencies(size, blocks int) [][]float64 {
	by := m.random
	by.BlockSize = size
	block, out := make([]float32, size*m.width), make([][]float64, 0, size*blocks)
	for b := range blocks {
		by.Frequencies(block, b)
		for w := range slices.Chunk(block, m.width) {
			out = append(out, halfTurns(w))
		}
	}
	return out
}

// served returns the frequencies that have coefficients.
func (m *model) served() [][]float64 {
	all, kept := m.frequencies(int(m.sizes[blockSize]), int(m.sizes[blocks])), numbers[byte](m, "kept")
	if kept == nil {
		return all
	}
	var some [][]float64
	for i, w := range all {
		if kept[i/8]>>(i%8)&1 == 1 {
			some = append(some, w)
		}
	}
	return some
}

// halfTurns returns the frequency w in half turns, with the rounding of package vec.
func halfTurns(w []float32) []float64 {
	panel, out := make([]float32, vec.Panel*len(w)), make([]float64, len(w))
	vec.PackFrequencies(panel, w, 0, len(w))
	for k := range out {
		out[k] = float64(panel[k*vec.Panel])
	}
	return out
}
