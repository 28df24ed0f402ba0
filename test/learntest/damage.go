package learntest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// DamageNewest writes the newest snapshot to a model log a second time, complete and under
// the current claim, but with one bit of its file flipped.
func DamageNewest(t testing.TB, client *ingest.Client, log string) {
	t.Helper()
	var chunks []*modellog.Chunk
	var m *modellog.Manifest
	var next int64
	for _, r := range kafkatest.Read(t, client, log) {
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
	again := *m
	again.Snapshot[0], again.SHA256[0] = again.Snapshot[0]^1, again.SHA256[0]^1 // the id is a part of the hash
	again.FirstChunk = next
	var out []ingest.Record
	add := func(v modellog.Record) {
		key, value, err := modellog.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ingest.Record{Time: time.Now().UnixMilli(), Key: key, Value: value})
	}
	for i, c := range chunks[len(chunks)-m.Chunks:] {
		c := *c
		c.Snapshot = again.Snapshot
		if i == 0 {
			c.Data = bytes.Clone(c.Data)
			c.Data[again.ServingSize/2] ^= 4
		}
		add(&c)
	}
	add(&again)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := client.Producer().Publish(ctx, log, 0, out); err != nil {
		t.Fatal(err)
	}
}
