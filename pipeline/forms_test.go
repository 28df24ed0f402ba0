package pipeline

import (
	"bytes"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// TestPredictionsOfEveryFormAreRepeatedToTheByte has learners that are fenced at many
// places, and a registry that is replaced in between, so that the id of the schema changes.
// All copies of a prediction are equal, each says what it says in JSON, and is proved.
func TestPredictionsOfEveryFormAreRepeatedToTheByte(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("forms")
	values := learntest.Rings(300)
	said := map[string]string{} // by ce_id, in JSON
	for _, format := range record.Forms() {
		if format == "json" {
			kafkatest.Fill(t, c, in, 1, values)
		}
		cfg, _ := learntest.Config(c, "same", in)
		cfg.Model = "same." + format + "." + in
		cfg.BatchSize = 30
		cfg.Passed = record.Passed{Fields: []string{"x"}}
		if format != "json" {
			cfg.Form = record.Form{Format: format, ID: 7}
		}
		first := cfg
		first.Form.ID += 70
		if format == "json" {
			first.Form.ID = 0
		}
		interrupted(t, first, 1)
		interrupted(t, cfg, 1)
		copies := map[string]ingest.Record{}
		var ids []string
		for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model)) {
			id := kafkatest.Header(r, "ce_id")
			before, twice := copies[id]
			if twice && !bytes.Equal(before.Value, r.Value) {
				t.Errorf("%s: copies of %s differ: %q, %q", format, id, before.Value, r.Value)
			}
			copies[id] = r
			ids = append(ids, id)
			own := record.Own(r)
			value := string(bytes.ReplaceAll(own.Value, []byte(format+"."), nil))
			value = value[:bytes.LastIndex([]byte(value), []byte(`"lineage"`))] // depends on the name of the model
			if format == "json" {
				said[id] = value
			} else if said[id] != value {
				t.Errorf("%s: %s, want %s", format, value, said[id])
			}
		}
		if len(copies) != len(values) {
			t.Errorf("%s: %d predictions, want %d", format, len(copies), len(values))
		}
		got, err := audit.Prove(t.Context(), cfg, []string{ids[10], ids[len(ids)-1]})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			if !r.Equal || !bytes.HasPrefix(r.Prediction, []byte(`{"prediction":`)) {
				t.Errorf("%s: %+v", format, r)
			}
		}
		if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
			t.Errorf("%s: verify: %+v, %v", format, v, err)
		}
	}
}
