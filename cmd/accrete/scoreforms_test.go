package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// accrete score writes in every form of output.format what it writes in JSON, with the schema
// in the registry.
func TestScoresOfEveryForm(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	registry := srfake.New()
	t.Cleanup(registry.Close)
	in, asked := kafkatest.Name("in"), kafkatest.Name("asked")
	rows := learntest.Rings(250)
	kafkatest.Fill(t, client, in, 1, rows[:200])
	kafkatest.Fill(t, client, asked, 1, rows[200:])
	said := map[string]string{} // by ce_id, in JSON
	for _, format := range record.Forms() {
		name := format + "." + in
		inDir(t, fmt.Sprintf("model: %s\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s]\n  label: label\nhttp:\n  listen: 'off'\nlearner:\n  algorithm: ridge\n  max_features: 32\noutput:\n  format: %s\n  registry:\n    url: %s\nscore:\n  topics: [%s]\n  http.listen: 'off'\n", name, addr, in, format, registry.URL(), asked))
		for _, command := range []string{"learn", "score"} {
			if code, _, stderr := call(t, nil, command, "-c", "config.yaml", "--to-end"); code != exit.Done {
				t.Fatal(command, format, stderr)
			}
		}
		scores := kafkatest.Read(t, client, model.ScoresTopic(name))
		if len(scores) != 50 {
			t.Fatalf("%s: %d scores of 50 records", format, len(scores))
		}
		for _, r := range scores {
			text, err := record.JSON(&r)
			if err != nil {
				t.Fatal(format, err)
			}
			id := kafkatest.Header(r, "ce_id")
			value, _, _ := strings.Cut(string(text), `"model"`) // what follows depends on the name
			if format == "json" {
				said[id] = value
			} else if said[id] != value {
				t.Errorf("%s: %s is %s, want %s", format, id, value, said[id])
			}
		}
	}
}
