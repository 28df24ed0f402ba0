package pipeline

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// BATCHes of another version are not learned again, even if no snapshot after them can be used.
func TestBatchesOfAnotherVersionAreNotReplayed(t *testing.T) {
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	values := learntest.Rings(2000)
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Learner, cfg.Keep = learntest.Newton, 3
	kafkatest.Fill(t, c, in, 1, values[:1000])
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[1000:1500])
	learnAll(t, cfg)
	as(modellog.Versions{Arithmetic: learner.Arithmetic + 1, Decoder: history.Versions.Decoder}, func() {
		cfg.Upgrade = true
		kafkatest.Fill(t, c, in, 1, values[1500:])
		learnAll(t, cfg)
		rewrite(t, addr, c, model.LogTopic(cfg.Model), func(rs []ingest.Record) {
			table, first := crc32.MakeTable(crc32.Castagnoli), snapshot.ID{}
			for i := range rs {
				r, err := modellog.Parse(rs[i].Key, rs[i].Value)
				chunk, ok := r.(*modellog.Chunk)
				if err != nil || !ok {
					continue
				}
				if first == (snapshot.ID{}) {
					first = chunk.Snapshot
				}
				if b := rs[i].Value; chunk.Snapshot != first { // all but the first snapshot are damaged
					b[len(b)/2] ^= 1
					binary.LittleEndian.PutUint32(b[60:], crc32.Update(crc32.Checksum(b[:60], table), table, b[64:]))
				}
			}
		})
		_, err := Open(t.Context(), cfg)
		learntest.Wants(t, err, model.ErrVersion, "after the newest usable snapshot")
	})
}
