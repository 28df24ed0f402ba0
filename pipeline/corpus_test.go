package pipeline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// TestDamagedSnapshotsAreNotUsed gives a learner copies of one model log. In each copy
// the newest snapshot is damaged in another way. The learner must detect it, continue
// from the previous snapshot, and reach the same state.
func TestDamagedSnapshotsAreNotUsed(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(340)
	cfg, _ := learntest.Config(c, "whole", in)
	cfg.ChunkBytes, cfg.Learner = 2<<10, learner.Config{Algorithm: "dsg", Kernel: "gaussian:1.5", MaxFeatures: 32}
	for i := range 3 {
		kafkatest.Fill(t, c, in, 1, values[100*i:100*(i+1)])
		learnAll(t, cfg)
	}
	log := kafkatest.Read(t, c, model.LogTopic(cfg.Model))
	fold := modellog.NewFold(0, 3)
	for _, r := range log {
		if _, err := fold.Add(r.Offset, r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
	}
	kept := fold.Snapshots()
	chunks, manifest, before := kept[0].Chunks, kept[0].Offset, kept[1].Chunks
	kafkatest.Fill(t, c, in, 1, values[300:])
	n := 0
	learn := func(damage func([]ingest.Record)) (snapshot.Hash, *learntest.Events) {
		t.Helper()
		n++
		cfg, ev := learntest.Config(c, fmt.Sprintf("damaged%d", n), in)
		cfg.ChunkBytes, cfg.Learner = 2<<10, learner.Config{Algorithm: "dsg", Kernel: "gaussian:1.5", MaxFeatures: 32}
		rs := slices.Clone(log)
		for i := range rs {
			rs[i].Value = bytes.Clone(rs[i].Value)
		}
		damage(rs)
		if err := journal.CreateLog(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		rename(t, c, model.LogTopic(cfg.Model), rs)
		if err := c.Producer().Publish(t.Context(), model.LogTopic(cfg.Model), 0, rs); err != nil {
			t.Fatal(err)
		}
		learnAll(t, cfg)
		return learntest.FinalHash(t, ev), ev
	}
	want, ev := learn(func([]ingest.Record) {})
	if r, ok := learntest.Last[event.Restored](ev); !ok || r.Seq != kept[0].Manifest.Seq {
		t.Fatal("an undamaged log is not used to its end")
	}
	seal := func(b []byte) {
		table := crc32.MakeTable(crc32.Castagnoli)
		binary.LittleEndian.PutUint32(b[60:], crc32.Update(crc32.Checksum(b[:60], table), table, b[64:]))
	}
	type corpus map[string]func([]ingest.Record)
	all := corpus{
		"the manifest is cut": func(rs []ingest.Record) { rs[manifest].Value = rs[manifest].Value[:100] },
		"the manifest has another chain": func(rs []ingest.Record) {
			rs[manifest].Value = bytes.Replace(rs[manifest].Value, []byte(kept[0].Manifest.Chain.String()), []byte(kept[0].Manifest.Lineage.String()), 1)
		},
		"the manifest is of no known version": func(rs []ingest.Record) {
			rs[manifest].Value = bytes.Replace(rs[manifest].Value, []byte(`"version":1`), []byte(`"version":0`), 1)
		},
		"two chunks have changed places": func(rs []ingest.Record) {
			rs[chunks[0]].Value, rs[chunks[1]].Value = rs[chunks[1]].Value, rs[chunks[0]].Value
		},
		"a chunk is there twice":        func(rs []ingest.Record) { rs[chunks[1]].Value = rs[chunks[0]].Value },
		"a chunk is another snapshot's": func(rs []ingest.Record) { rs[chunks[1]].Value = rs[before[1]].Value },
		"a chunk's data is another one's": func(rs []ingest.Record) {
			copy(rs[chunks[1]].Value[64:], rs[before[1]].Value[64:])
			seal(rs[chunks[1]].Value)
		},
		"a chunk is empty":               func(rs []ingest.Record) { rs[chunks[1]].Value = []byte{} },
		"a chunk has no value":           func(rs []ingest.Record) { rs[chunks[1]].Value = nil },
		"a chunk is cut":                 func(rs []ingest.Record) { v := &rs[chunks[1]].Value; *v = (*v)[:len(*v)-1] },
		"a chunk goes under another key": func(rs []ingest.Record) { rs[chunks[1]].Key = []byte("batch") },
	}
	for i := range chunks {
		for _, deep := range []bool{false, true} {
			at := 64 + (37*i)%100
			all[fmt.Sprintf("byte %d of chunk %d, with its checksum: %v", at, i, deep)] = func(rs []ingest.Record) {
				v := rs[chunks[i]].Value
				if v[at] ^= 0x10; deep {
					seal(v)
				}
			}
		}
	}
	for what, damage := range all {
		got, ev := learn(damage)
		if got != want {
			t.Errorf("%s: the learner comes to state %v, want %v", what, got, want)
		}
		r, ok := learntest.Last[event.Restored](ev)
		if !ok || r.Seq != kept[1].Manifest.Seq {
			t.Errorf("%s: it goes on from the snapshot at seq %d, want the one before at %d", what, r.Seq, kept[1].Manifest.Seq)
		}
	}
}
