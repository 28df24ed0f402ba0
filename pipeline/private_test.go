package pipeline

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A field of output.redact is in no prediction, in no record in quarantine, in no event and
// in no record of the model log, and what is learned is the same.
func TestRedactedFieldsAreNotShown(t *testing.T) {
	const canary = "canary-4711"
	c := kafkatest.Client(t)
	redact, err := record.NewRedaction([]string{"who", "features.x:hash"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for _, r := range []*record.Redaction{nil, redact} {
		in := kafkatest.Name("rings")
		kafkatest.Fill(t, c, in, 1, learntest.Rings(40))
		rows := []ingest.Record{
			{Value: []byte(`{"features":{"x":1,"y":2},"label":"true","who":"` + canary + `"}`)},
			{Value: []byte(`{"features":{"x":"` + canary + `","y":1},"label":"true"}`)},
			{Value: []byte(`{"features":{"x":1,"y":"?"},"who":"` + canary + `"}`)},
			{Value: []byte(`{"who":"` + canary)},
		}
		if err := c.Producer().Publish(t.Context(), in, 0, rows); err != nil {
			t.Fatal(err)
		}
		cfg, ev := learntest.Config(c, "m."+in, in)
		cfg.Decode.Unknown = "ignore"
		cfg.Passed = record.Passed{Fields: []string{"who", "y"}, Redact: r}
		learnAll(t, cfg)
		for _, topic := range []string{model.LogTopic(cfg.Model), model.PredictionsTopic(cfg.Model), model.QuarantineTopic(cfg.Model)} {
			all := kafkatest.Read(t, c, topic)
			found := false
			for _, r := range all {
				found = found || strings.Contains(fmt.Sprintf("%s %s %q", r.Key, r.Value, r.Headers), canary)
			}
			if want := r == nil && topic != model.LogTopic(cfg.Model); found != want || len(all) == 0 {
				t.Errorf("%s, redacted %v: the field is shown: %v", topic, r != nil, found)
			}
		}
		if told := fmt.Sprintf("%+v %q", ev.All(), ev.All()); strings.Contains(told, canary) == (r != nil) {
			t.Errorf("redacted %v: an event has the field: %v", r != nil, r == nil)
		}
		hashes = append(hashes, learntest.FinalHash(t, ev).String())
	}
	if hashes[0] != hashes[1] {
		t.Errorf("the states differ: %v", hashes)
	}
}

// What an invalid record holds is in the quarantine topic only with quarantine.values
// full, and in no event and no record of the model log otherwise, not even as the reason.
func TestInvalidRecordsAreNotShown(t *testing.T) {
	const canary = "canary-4711"
	c := kafkatest.Client(t)
	for _, values := range []record.Values{"", record.ValuesHash, record.ValuesNone} {
		in := kafkatest.Name("rings")
		kafkatest.Fill(t, c, in, 1, learntest.Rings(40))
		bad := fmt.Sprintf(`{"features":{"x":%q,"y":1},"label":"true"}`, canary)
		secret := ingest.Record{Key: []byte(canary), Value: []byte(bad), Headers: []ingest.Header{{Key: "token", Value: []byte(canary)}}}
		if err := c.Producer().Publish(t.Context(), in, 0, []ingest.Record{secret, {Value: []byte(canary)}}); err != nil {
			t.Fatal(err)
		}
		cfg, ev := learntest.Config(c, "m."+in, in)
		cfg.Values = values
		learnAll(t, cfg)

		q := kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))
		if len(q) != 2 {
			t.Fatalf("%q: %d records in quarantine, want 2", values, len(q))
		}
		kept := fmt.Sprintf("%s %s %q", q[0].Key, q[0].Value, q[0].Headers) + fmt.Sprintf("%s %q", q[1].Value, q[1].Headers)
		told := fmt.Sprintf("%+v %q", ev.All(), ev.All())
		for _, r := range kafkatest.Read(t, c, model.LogTopic(cfg.Model)) {
			if bytes.Contains(r.Value, []byte(canary)) {
				t.Errorf("%q: the model log has it", values)
			}
		}
		switch shown := strings.Contains(kept, canary); {
		case values == "":
			if !shown || !strings.Contains(told, canary) {
				t.Error("nothing is shown by default")
			}
			continue
		case shown:
			t.Errorf("%q: in quarantine: %s", values, kept)
		}
		if strings.Contains(told, canary) {
			t.Errorf("%q: an event has it: %s", values, told)
		}
		length := kafkatest.Header(q[0], "accrete.truncated.value")
		if hashed := strings.HasPrefix(length, fmt.Sprintf("%d sha256=", len(bad))); hashed != (values == record.ValuesHash) || !hashed && length != fmt.Sprint(len(bad)) {
			t.Errorf("%q: the value is described as %q", values, length)
		}
		if r, err := record.ReadQuarantined(q[0]); err != nil || r.Offset != 40 || r.Incomplete != "value and key and headers truncated" || !strings.HasPrefix(r.Reason, "columns: invalid") {
			t.Errorf("%q: %+v, %v", values, r, err)
		}
	}
}
