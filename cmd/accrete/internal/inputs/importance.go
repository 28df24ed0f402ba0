package inputs

import (
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// Importances returns how much each field of a schema matters for the scores of m, see
// learner.Model.Importance.
func Importances(schema *decode.Schema, m *learner.Model) ([]float64, error) {
	indices, err := m.Importance()
	if err != nil {
		return nil, err
	}
	return ByField(schema, indices), nil
}

// ByField adds up the indices of the columns of each field.
func ByField(schema *decode.Schema, indices []float64) []float64 {
	all := schema.ByField(indices, 1)
	for i := range all {
		all[i] = min(all[i], 1) // of an estimate, which may be above
	}
	return all
}

// SetImportance sets the importance of the columns in all, which Report has returned, for the
// scores of m. It uses a sample of the rows that t has counted. If m cannot compute importances, it
// sets none.
func (t *Tally) SetImportance(all []Report, schema *decode.Schema, m *learner.Model) {
	var b learner.Batch
	for i, x := range t.sample {
		if i == 0 {
			b.Reset(len(x))
		}
		b.Append(x, learner.Label{}, 1)
	}
	indices, err := m.ImportanceOn(&b)
	if err != nil {
		return
	}
	indices = ByField(schema, indices)
	for i := range all {
		all[i].Importance = &indices[i]
	}
}

// sampleRows is the maximum number of rows in the sample, which are at equal distances in the file.
const sampleRows = 512

// take keeps a row for SetImportance if it is one of the sample.
func (t *Tally) take(x []float64) {
	if t.distance = max(1, t.distance); (t.Rows-1)%t.distance != 0 {
		return
	}
	if len(t.sample) == sampleRows { // keep every other row
		for i := range sampleRows / 2 {
			t.sample[i] = t.sample[2*i]
		}
		t.sample, t.distance = t.sample[:sampleRows/2], 2*t.distance
	}
	t.sample = append(t.sample, slices.Clone(x))
}
