package pipeline

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// labelDelay is the number of rows after which a label comes.
const labelDelay = 37

// withLateLabels returns n rows of a card each, and their labels.
func withLateLabels(n int) (rows, labels []string) {
	for i := range n {
		card, at := i*i%23, 1_700_000_000+10*i
		rows = append(rows, fmt.Sprintf(`{"id":%d,"at":%d,"card":%d,"amount":%v}`, i, at, card, math.Sin(float64(i*i))+float64(card%3)))
		labels = append(labels, fmt.Sprintf(`{"id":%d,"at":%d.5,"label":%v}`, i, at+10*labelDelay, card%2 == 0))
	}
	return rows, labels
}

// learnOneByOne learns rows and labels one by one, with the values that the windows gave a row
// when it came.
func learnOneByOne(t *testing.T, c model.Config, rows, labels []string) *learner.Learner {
	t.Helper()
	d, err := decode.New(c.Decode, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New(c.Learner)
	if err != nil {
		t.Fatal(err)
	}
	one := func(i int, x []float64, y learner.Label, types []learner.ColumnType) *learner.Batch {
		b := new(learner.Batch)
		b.Reset(len(x))
		b.Append(x, y, 1)
		b.SetTime(float64(1_700_000_000 + 10*i)) // of the row, not of its label
		b.SetTypes(types)
		return b
	}
	var types []learner.ColumnType
	var values, kept [][]float64
	for i := range len(rows) + labelDelay {
		if i < len(rows) {
			row, err := record.Decode(d, &ingest.Record{Value: []byte(rows[i])})
			if err != nil {
				t.Fatal(err)
			}
			types = row.Types
			b := one(i, row.X, learner.Label{}, types)
			b.SetWindows(row.Windows)
			l.Observe(b)
			pass := l.Predict(b)
			values, kept = append(values, slices.Clone(b.X(0))), append(kept, l.Keep(pass, 0))
			l.Learn(pass)
		}
		if at := i - labelDelay; at >= 0 {
			y, err := d.LateLabel([]byte(labels[at]))
			if err != nil {
				t.Fatal(err)
			}
			b := one(at, values[at], y, types)
			b.SetKept(0, kept[at])
			l.Learn(l.Predict(b))
		}
	}
	return l
}

// A row that waits for its label is learned with the windows that it had when it came, and is
// added to them once. It counts as old as its features are when its label comes. All that holds for
// a learner that is stopped while rows wait.
func TestRowsKeepTheirWindowsUntilTheirLabels(t *testing.T) {
	const n, stop = 600, 310
	c, in := kafkatest.Client(t), kafkatest.Name("rows")
	outcomes := in + "-outcomes"
	config := func(name string) (model.Config, *learntest.Events) {
		cfg, ev := learntest.Config(c, name, in)
		cfg.Topics = []string{in, outcomes}
		cfg.Learner.HalfLife = 200
		cfg.Decode = decode.Config{
			Label: "label", Infer: true, Missing: "impute", Types: map[string]string{"card": "id", "at": "ignored"},
			Late:    &join.Config{Topic: outcomes, Key: "id", Time: "at", TTL: 3_600_000, Pending: 1000},
			Windows: []decode.Window{{Key: "card", Of: "amount", Time: "at", Over: []string{"2m", "1h"}}},
		}
		return cfg, ev
	}
	rows, labels := withLateLabels(n)
	kafkatest.Fill(t, c, in, 1, rows[:stop])
	kafkatest.Fill(t, c, outcomes, 1, labels[:stop-labelDelay])
	cfg, ev := config("stopped")
	learnAll(t, cfg)
	if s, ok := learntest.Last[event.Learned](ev); !ok || s.Late == nil || s.Late.Pending != labelDelay {
		t.Fatalf("at the stop: %+v, want %d rows that wait", s.Late, labelDelay)
	}
	kafkatest.Fill(t, c, in, 1, rows[stop:])
	kafkatest.Fill(t, c, outcomes, 1, labels[stop-labelDelay:])
	cfg.BatchSize = 7
	learnAll(t, cfg)
	whole, all := config("whole")
	learnAll(t, whole)
	if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, all); got != want {
		t.Errorf("stopped: state hash %v, in one go: %v", got, want)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}

	l := learnOneByOne(t, cfg, rows, labels)
	s, ok := learntest.Last[event.Learned](ev)
	if a := s.Progress.Ages; a == nil || math.Abs(a.Mean()-math.Exp2(-10*labelDelay/200.)) > 0.02 {
		t.Errorf("the ages are %+v", a)
	}
	if !ok || s.Progress.Examples != n || !reflect.DeepEqual(s.Progress.Whole, l.Progress().Whole) {
		t.Errorf("graded as %+v of %d examples, one by one as %+v", s.Progress.Whole, s.Progress.Examples, l.Progress().Whole)
	}
	j, err := journal.Open(t.Context(), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := j.Load(t.Context(), j.Log.Fold.Snapshots()[0])
	if err != nil {
		t.Fatal(err)
	}
	serving := func(arrays []learner.Array) snapshot.Hash {
		return snapshot.StateHash(nil, learner.State{Serving: arrays})
	}
	if got, want := serving(saved.State.Serving), serving(l.Serving()); got != want {
		t.Errorf("the model is %v, one by one %v", got, want)
	}
}
