package pipeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Columns that vanish and come back, and fields that appear, are in the model log once,
// with a learner that is stopped in between as well.
func TestColumnsThatComeAndGoAreJournaled(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("columns")
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Decode = decode.Config{Label: "y", Infer: true, Missing: "impute", Unknown: "ignore"}
	cfg.BatchSize = 50
	feed := func(n int, format string) {
		values := make([]string, n)
		for i := range values {
			values[i] = fmt.Sprintf(format, i%7, i%2)
		}
		kafkatest.Fill(t, c, in, 1, values)
		learnAll(t, cfg)
	}
	feed(200, `{"a":%d,"b":1,"y":%d}`)
	feed(2100, `{"a":%d,"y":%d}`)
	feed(100, `{"a":%d,"y":%d,"late":1}`) // stays gone over the restart
	feed(1100, `{"a":%d,"y":%d,"late":1}`)
	feed(100, `{"a":%d,"b":2,"y":%d,"late":1}`)
	r, err := audit.Inspect(t.Context(), cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	dropped := int64(0)
	for _, c := range r.Columns {
		got = append(got, fmt.Sprint(c.Gone, c.Back, c.New))
		if c.Seq < 1 || c.Time.IsZero() {
			t.Errorf("a change at seq %d, %v", c.Seq, c.Time)
		}
	}
	if want := []string{"[b] [] []", "[] [] [late]", "[] [b] []"}; !slices.Equal(got, want) {
		t.Errorf("the log has the changes %q, want %q", got, want)
	}
	if len(r.Absent.Gone) > 0 || !slices.Equal(r.Absent.New, []string{"late"}) {
		t.Errorf("in the end, %+v", r.Absent)
	}
	all, err := audit.Inspect(t.Context(), cfg, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all.Records {
		if b, ok := v.Record.(*modellog.Batch); ok && b.Columns != nil {
			dropped += b.Columns.Dropped
		}
	}
	if dropped != 1300 {
		t.Errorf("the log has %d ignored fields, want 1,300", dropped)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
