// Package modeltest has models of records, for tests of what is done with a model.
package modeltest

import (
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Snapshot returns the snapshot of a model that has learned these records.
func Snapshot(t testing.TB, c learner.Config, in decode.Config, records []string) *snapshot.Snapshot {
	t.Helper()
	fit, err := offline.NewFit(c, in)
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode.New(in, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		row, err := d.Decode([]byte(r))
		if err != nil {
			t.Fatal(err)
		}
		fit.Add(row)
	}
	fit.Finish()
	s, err := fit.Snapshot(d.Schema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
