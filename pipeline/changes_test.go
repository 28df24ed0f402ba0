package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// TestALearnerStopsWhereColumnsChange has a field appear and a column vanish. The learner
// pauses once for each, also after a restart, and then comes to the state of one that
// continues.
func TestALearnerStopsWhereColumnsChange(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("changes")
	var values []string
	for i, v := range learntest.Rings(2100) {
		if i >= 300 {
			v = strings.Replace(v, `{"x"`, `{"z":1,"x"`, 1)
		}
		if i >= 600 {
			at := strings.Index(v, `"y"`)
			v = v[:at] + `"y":null` + v[strings.Index(v, "}"):]
		}
		values = append(values, v)
	}
	kafkatest.Fill(t, c, in, 1, values)
	config := func(rule string) model.Config {
		cfg, _ := learntest.Config(c, rule, in)
		cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Unknown: "ignore"}
		cfg.OnChange = rule
		return cfg
	}
	cfg := config("continue")
	learnAll(t, cfg)
	want := stateAlone(t, cfg)
	cfg = config("stop")
	for _, what := range []string{`new fields: ["z"]`, `columns gone: ["y"]`} {
		for range 2 { // a restart does not continue
			l, err := Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			learntest.Wants(t, l.Run(t.Context()), ErrChanged, what)
		}
		was, err := admin.Resume(t.Context(), cfg)
		if err != nil || was == nil || !strings.HasPrefix(was.Why(), what) {
			t.Fatal(was, err)
		}
	}
	learnAll(t, cfg)
	if got := stateAlone(t, cfg); got != want {
		t.Errorf("the state is %v, and %v without pauses", got, want)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
		t.Errorf("verify: %s, %v", fmt.Sprint(v), err)
	}
}
