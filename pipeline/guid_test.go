package pipeline

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/encode"
	"github.com/accrete-ml/accrete/ingest/registry"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// unknownGUID is the one with which Confluent's clients are tested.
const unknownGUID = "89791762-2336-4186-9674-299b90a802e2"

// header returns the header of a record whose schema has the GUID.
func header(t *testing.T, guid string) []ingest.Header {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(guid, "-", ""))
	if err != nil || len(b) != 16 {
		t.Fatal(guid, err)
	}
	return []ingest.Header{{Key: decode.SchemaHeader, Value: append([]byte{1}, b...)}}
}

// Records that name their schema by a GUID in the header are the same examples as those that
// begin with its id. The registry is asked more than once for a GUID that it does not have, and
// not at all for a verification; exactly the records with it go to quarantine.
func TestSchemasAreFoundByTheGUIDInTheHeader(t *testing.T) {
	t.Parallel()
	c := kafkatest.Client(t)
	fake := srfake.New()
	defer fake.Close()
	var asked atomic.Int32
	fake.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, unknownGUID) {
			asked.Add(1)
		}
		return false
	})
	schemas, err := registry.New(registry.Config{URLs: []string{fake.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	var states [2]string
	for form, name := range []string{"id", "guid"} {
		in := kafkatest.Name(name)
		kafkatest.Fill(t, c, in, 1, nil)
		w, err := encode.WithSchema(t.Context(), "avro", "", encode.Roles{Labels: []string{"label"}}, schemas, "rings-value")
		if err != nil {
			t.Fatal(err)
		}
		var records []ingest.Record
		bad := 0
		for i, example := range learntest.Rings(300) {
			value, _, err := w.Write([]byte(example))
			if err != nil {
				t.Fatal(err)
			}
			r := ingest.Record{Key: fmt.Append(nil, i), Value: value}
			if form == 1 {
				r.Headers, r.Value = header(t, schemaGUID(t, fake.URL())), value[5:]
				if i%50 == 7 { // the header counts: its schema is unknown, though the value names one that is not
					records = append(records, ingest.Record{Key: r.Key, Value: value, Headers: header(t, unknownGUID)})
					bad++
				}
			}
			records = append(records, r)
		}
		if err := c.Producer().Publish(t.Context(), in, 0, records); err != nil {
			t.Fatal(err)
		}
		cfg, _ := learntest.Config(c, "m", in)
		cfg.Decode = decode.Config{Format: "avro", Framed: true, Label: "label", Infer: true, Missing: "impute"}
		cfg.Schemas = schemas
		learnAll(t, cfg)
		learnAll(t, cfg)
		states[form] = stateAlone(t, cfg).String()
		if n := len(kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model))); n != 300 {
			t.Errorf("%s: %d predictions, want 300", name, n)
		}
		quarantined := kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))
		if len(quarantined) != bad {
			t.Errorf("%s: %d records in quarantine, want %d", name, len(quarantined), bad)
		}
		for _, r := range quarantined {
			if why := kafkatest.Header(r, "__connect.errors.exception.message"); !strings.Contains(why, unknownGUID) {
				t.Errorf("in quarantine because %s", why)
			}
		}
		cfg.Schemas = silent{t}
		if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
			t.Errorf("%s: verify: %+v, %v", name, v, err)
		}
	}
	if states[0] != states[1] {
		t.Errorf("by GUID the state is %s, by id %s", states[1], states[0])
	}
	if n := asked.Load(); n < 2 {
		t.Errorf("the registry was asked %d times for the unknown GUID", n)
	}
}

// schemaGUID returns the GUID of the newest schema of the examples.
func schemaGUID(t *testing.T, url string) string {
	t.Helper()
	client, err := sr.NewClient(sr.URLs(url))
	if err != nil {
		t.Fatal(err)
	}
	s, err := client.SchemaByVersion(t.Context(), "rings-value", -1)
	if err != nil || s.GUID == "" {
		t.Fatal(s, err)
	}
	return s.GUID
}
