package pipeline

import (
	"context"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A snapshot is written again if a late copy of a chunk of the one before arrives among its records, even
// directly before its MANIFEST.
func TestALateChunkDoesNotCostTheSnapshot(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(200))
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	j, err := journal.Open(t.Context(), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Claim(t.Context(), history.Versions, nil); err != nil {
		t.Fatal(err)
	}
	s, err := j.Load(t.Context(), j.Log.Fold.Snapshots()[0])
	if err != nil {
		t.Fatal(err)
	}
	saved := func(writer string, await func() error) {
		t.Helper()
		s.Info = snapshot.Info{Writer: writer} // makes another file of it
		if _, err := j.Save(t.Context(), s, nil, nil, func(context.Context, int64) error { return await() }, cfg); err != nil {
			t.Fatal(err)
		}
	}
	saved("first", func() error { return nil })
	late, tries := []ingest.Record(nil), 0
	for _, r := range kafkatest.Read(t, c, model.LogTopic(cfg.Model)) {
		record, err := modellog.Parse(r.Key, r.Value)
		if chunk, ok := record.(*modellog.Chunk); err == nil && ok && chunk.Owner == j.Owner && chunk.Index == 0 {
			late = append(late, r)
		}
	}
	saved("second", func() error {
		if tries++; tries > 1 {
			return nil
		}
		return c.Producer().Publish(t.Context(), model.LogTopic(cfg.Model), 0, late)
	})
	newest, err := j.Load(t.Context(), j.Log.Fold.Snapshots()[0])
	if err != nil || newest.Info.Writer != "second" || len(late) != 1 || tries != 2 {
		t.Errorf("the newest snapshot is the %q, %v, after %d tries and %d late chunks", newest.Info.Writer, err, tries, len(late))
	}
}
