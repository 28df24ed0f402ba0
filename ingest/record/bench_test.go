package record

import (
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
)

// A prediction takes no memory of its own: those of many records are pieces of one.
func TestPredictionsAllocateNothing(t *testing.T) {
	e := NewEncoder(ModelID{Name: "payments", Step: 123456}, []string{"a", "b"}, 1<<20)
	for _, ms := range []int64{0, 1700000000000, 9e15, -9e15} {
		in := &ingest.Record{Key: []byte("k"), Value: []byte(`{"amount":12.5}`), Offset: 123456789, Time: ms}
		x := Example{Topic: "in", Record: in, Key: in.Key, Sequence: 5, Graded: true, Loss: .25, Label: learner.Label{Task: learner.Classification}, LabelName: "a"}
		row := []float64{.123456789012345, .876543210987655}
		if n := testing.AllocsPerRun(1000, func() { e.Record(x, learner.Classification, row) }); n > 0 {
			t.Errorf("at %d ms: %v allocations a record", ms, n)
		}
	}
}

// BenchmarkPredictions encodes predictions of two and of ten classes and of a number, as a
// learner publishes them.
func BenchmarkPredictions(b *testing.B) {
	classes := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	in := &ingest.Record{Key: []byte("card-1290381"), Value: []byte(`{"amount":12.5}`), Offset: 123456789, Time: 1700000000000}
	for _, of := range []struct {
		name string
		row  []float64
	}{
		{"classes=2", []float64{0.123456789012345, 0.876543210987655}},
		{"classes=10", []float64{0.01, 0.123456789012345, 0.2, 0.05, 0.3, 0.1, 0.1, 0.0501234567890123, 0.03, 0.02}},
		{"number", []float64{1234.56789012345}},
	} {
		b.Run(of.name, func(b *testing.B) {
			task, named := learner.Classification, classes[:len(of.row)]
			if len(of.row) == 1 {
				task, named = learner.Regression, nil
			}
			e := NewEncoder(ModelID{Name: "payments", Step: 123456}, named, 1<<20)
			x := Example{Topic: "payments.labelled", Partition: 3, Record: in, Key: in.Key, Sequence: 123456789, Graded: true, Loss: 0.123456789, Label: learner.Label{Task: task}, LabelName: "a", Mixture: learner.MixtureLabels}
			b.ReportAllocs()
			for b.Loop() {
				r := e.Record(x, task, of.row)
				if len(r.Value) == 0 {
					b.Fatal("nothing is encoded")
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
