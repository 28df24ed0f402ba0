package main

import (
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

// Names that YAML reads otherwise are quoted.
func TestPrintedColumnsAreYAML(t *testing.T) {
	got := inputs.YAML([]inputs.Column{{Name: "a.b.0", Type: "numeric"}, {Name: "0", Type: "time"}, {Name: "No", Type: "id"}, {Name: "a: b\"#", Type: schema.Ignored}, {Name: "größe"}})
	const want = "input:\n  columns:\n    a.b.0: numeric\n    \"0\": time\n    \"No\": id\n    \"a: b\\\"#\": ignored\n    \"größe\": ignored  # no value so far\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
