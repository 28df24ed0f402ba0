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
	return Snapshots(t, c, in, records, len(records))[0]
}

// Snapshots returns the snapshots of a model after these numbers of records, in order.
func Snapshots(t testing.TB, c learner.Config, in decode.Config, records []string, at ...int) (all []*snapshot.Snapshot) {
	t.Helper()
	fit, err := offline.NewFit(c, in)
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode.New(in, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	learned := 0
	for _, n := range at {
		for ; learned < n; learned++ {
			row, err := d.Decode([]byte(records[learned]))
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
		all = append(all, s)
	}
	return all
}
