package serve_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// damage writes the newest snapshot to the model log a second time, complete and
// under the current claim, but with one bit of its file flipped.
func (w *world) damage(t *testing.T) {
	t.Helper()
	log := pipeline.LogTopic(w.model)
	var chunks []*modellog.Chunk
	var m *modellog.Manifest
	var next int64
	for _, r := range kafkatest.Read(t, w.client, log) {
		v, err := modellog.Parse(r.Key, r.Value)
		if err != nil {
			t.Fatal(err)
		}
		switch v := v.(type) {
		case *modellog.Chunk:
			chunks = append(chunks, v)
		case *modellog.Manifest:
			m = v
		}
		next = r.Offset + 1
	}
	chunks, again := chunks[len(chunks)-m.Chunks:], *m
	again.Snapshot[0], again.SHA256[0] = again.Snapshot[0]^1, again.SHA256[0]^1 // the id is a part of the hash
	again.FirstChunk = next
	var rs []modellog.Record
	for i, c := range chunks {
		c := *c
		c.Snapshot = again.Snapshot
		if i == 0 {
			c.Data = bytes.Clone(c.Data)
			c.Data[again.ServingSize/2] ^= 4
		}
		rs = append(rs, &c)
	}
	var out []ingest.Record
	for _, r := range append(rs, &again) {
		key, value, err := modellog.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ingest.Record{Time: time.Now().UnixMilli(), Key: key, Value: value})
	}
	if err := w.client.Producer().Publish(t.Context(), log, 0, out); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshotBeforeADamagedOneIsUsed(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 1500, class))
	kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 20, none))
	w.learn(t, w.in)
	w.damage(t)
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(kafkatest.Read(t, w.client, pipeline.ScoresTopic(w.model))); n != 20 || w.switches != 1 || w.damaged != 1 {
		t.Errorf("%d scores of 20, by %d models, %d snapshots damaged", n, w.switches, w.damaged)
	}
	var restored, damaged int
	w.learnEvents = func(ev event.Event) {
		switch ev.(type) {
		case event.Restored:
			restored++
		case event.Damaged:
			damaged++
		}
	}
	w.learn(t, w.in)
	if restored != 1 || damaged != 1 {
		t.Errorf("the learner restored %d snapshots and found %d damaged", restored, damaged)
	}
}
