package pipeline

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// rewrite replaces a topic by one of the same name with other records at the
// same offsets.
func rewrite(t *testing.T, addr string, c *ingest.Client, topic string, change func([]ingest.Record)) {
	t.Helper()
	rs := kafkatest.Read(t, c, topic)
	for i := range rs {
		if rs[i].Offset != int64(i) {
			t.Fatalf("record %d has offset %d", i, rs[i].Offset)
		}
		rs[i].Value = bytes.Clone(rs[i].Value)
	}
	change(rs)
	kafkatest.Delete(t, addr, topic)
	eventually(t, "the topic is gone", func() bool {
		_, err := c.Topic(t.Context(), topic)
		return errors.Is(err, ingest.ErrUnknownTopic)
	})
	if err := journal.CreateLog(t.Context(), model.Config{Client: c, Model: strings.TrimSuffix(topic, ".log")}); err != nil {
		t.Fatal(err)
	}
	rename(t, c, topic, rs)
	if err := c.Producer().Publish(t.Context(), topic, 0, rs); err != nil {
		t.Fatal(err)
	}
}

// rename changes the topic ID in records of a model log to that of topic.
func rename(t *testing.T, c *ingest.Client, topic string, rs []ingest.Record) {
	t.Helper()
	id, err := c.TopicID(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	var old snapshot.TopicID
	for i := range rs {
		r, err := modellog.Parse(rs[i].Key, rs[i].Value)
		if claim, ok := r.(*modellog.Claim); ok && err == nil {
			old = claim.TopicID
		}
		if string(rs[i].Key) != "chunk" {
			rs[i].Value = bytes.ReplaceAll(rs[i].Value, []byte(old.String()), []byte(snapshot.TopicID(id).String()))
		}
	}
}

// lastChunk returns the value of the last CHUNK of a log.
func lastChunk(rs []ingest.Record) []byte {
	for i := len(rs) - 1; i >= 0; i-- {
		if string(rs[i].Key) == "chunk" {
			return rs[i].Value
		}
	}
	panic("no chunk")
}

func TestDamagedSnapshotFallsBackToTheOneBefore(t *testing.T) {
	for name, damage := range map[string]func([]byte){
		"a flipped bit": func(b []byte) { b[len(b)/2] ^= 1 },
		"a flipped bit under a right checksum": func(b []byte) {
			b[len(b)/2] ^= 1
			table := crc32.MakeTable(crc32.Castagnoli)
			binary.LittleEndian.PutUint32(b[60:], crc32.Update(crc32.Checksum(b[:60], table), table, b[64:]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
			c := kafkatest.ClientOf(t, addr, nil)
			values := learntest.Rings(3000)
			cfg, ev := learntest.Config(c, "m", in)
			var seqs []int64
			at := 0
			for _, to := range []int{1000, 1800, 2500} {
				kafkatest.Fill(t, c, in, 1, values[at:to])
				at = to
				learnAll(t, cfg)
				s, _ := learntest.Last[event.Saved](ev)
				seqs = append(seqs, s.Seq)
			}
			rewrite(t, addr, c, model.LogTopic(cfg.Model), func(rs []ingest.Record) { damage(lastChunk(rs)) })
			kafkatest.Fill(t, c, in, 1, values[2500:])
			learnAll(t, cfg)
			if r, ok := learntest.Last[event.Restored](ev); !ok || r.Seq != seqs[1] {
				t.Errorf("restored seq %d, want that of the snapshot before the damaged one, %d of %v", r.Seq, seqs[1], seqs)
			}
			whole, all := learntest.Config(c, "whole", in)
			learnAll(t, whole)
			if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, all); got != want {
				t.Errorf("state hash %v, undamaged %v", got, want)
			}
		})
	}
}

func TestOnlySignedSnapshotsAreRestored(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(2000)
	key := ed25519.NewKeyFromSeed(slices.Repeat([]byte{1}, ed25519.SeedSize))
	other := ed25519.NewKeyFromSeed(slices.Repeat([]byte{2}, ed25519.SeedSize))
	kafkatest.Fill(t, c, in, 1, values[:1000])
	cfg, ev := learntest.Config(c, "m", in)
	cfg.SignKey, cfg.VerifyKey = key, key.Public().(ed25519.PublicKey)
	learnAll(t, cfg)
	signed, _ := learntest.Last[event.Saved](ev)

	kafkatest.Fill(t, c, in, 1, values[1000:1500])
	forged := cfg // a writer that has access to the log but not the key
	forged.SignKey, forged.VerifyKey = other, nil
	learnAll(t, forged)

	kafkatest.Fill(t, c, in, 1, values[1500:])
	ev.Reset()
	if _, err := Open(t.Context(), cfg); !errors.Is(err, ErrLog) {
		t.Errorf("there are predictions of what nobody has signed, and it says %v", err)
	}
	r, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{})
	if err != nil || r.Record == nil || r.Record.ToSeq != signed.Seq {
		t.Errorf("rolled back: %+v, %v; want to seq %d", r, err, signed.Seq)
	}
	learnAll(t, cfg)
	if r, ok := learntest.Last[event.Restored](ev); !ok || r.Seq != signed.Seq {
		t.Errorf("restored %+v, want the snapshot that is signed, at seq %d", r, signed.Seq)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent > 0 || len(v.Abandoned) != 1 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	cfg.SignKey = nil
	if _, err := Open(t.Context(), cfg); !errors.Is(err, modellog.ErrSignature) {
		t.Errorf("without the key: %v", err)
	}
}

// atRest returns a number that has not changed for half a second. A learner that ends with an error
// gives up the snapshot that it writes, a chunk of which may still be on its way to the broker.
func atRest(t *testing.T, number func() int) int {
	t.Helper()
	n, since := number(), time.Now()
	for end := since.Add(time.Minute); time.Since(since) < time.Second/2; time.Sleep(10 * time.Millisecond) {
		if now := number(); now != n {
			n, since = now, time.Now()
		}
		if time.Now().After(end) {
			t.Fatal("it does not come to rest")
		}
	}
	return n
}

// A process without the private key does not write to a log whose owner signs: it would be void for
// the owner and for scorers, which would then find predictions of what nobody has signed.
func TestOnlyWhoSignsWritesToASignedLog(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(1500))
	poisoned := make([]string, 1000)
	for i := range poisoned {
		poisoned[i] = "no record"
	}
	cfg, _ := learntest.Config(c, "m", in)
	cfg.SignKey = ed25519.NewKeyFromSeed(slices.Repeat([]byte{1}, ed25519.SeedSize))
	cfg.VerifyKey = cfg.SignKey.Public().(ed25519.PublicKey)
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, poisoned)
	if l, err := Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	} else if err := l.Run(t.Context()); !errors.Is(err, ErrPoisoned) {
		t.Fatalf("it has not paused: %v", err)
	}
	records := atRest(t, func() int { return len(kafkatest.Read(t, c, model.LogTopic(cfg.Model))) })
	reader, bare := cfg, cfg
	reader.SignKey, bare.SignKey, bare.VerifyKey = nil, nil, nil
	for name, without := range map[string]model.Config{"only the public key": reader, "no key": bare} {
		standby := without
		standby.Standby, standby.Heartbeat = true, time.Second
		for command, run := range map[string]func() error{
			"learn":           func() error { _, err := Open(t.Context(), without); return err },
			"learn --standby": func() error { _, err := Open(t.Context(), standby); return err },
			"resume":          func() error { _, err := admin.Resume(t.Context(), without); return err },
			"rollback":        func() error { _, err := admin.Rollback(t.Context(), without, admin.RollbackTo{}); return err },
			"adopt":           func() error { _, err := admin.Adopt(t.Context(), without, admin.Adoption{}); return err },
			"pin": func() error {
				_, _, err := admin.Serve(t.Context(), without, func(now modellog.Choice, _ modellog.Ref, _ bool) (modellog.Choice, error) { return now, nil })
				return err
			},
		} {
			if err := run(); !errors.Is(err, modellog.ErrSignature) {
				t.Errorf("%s with %s: %v", command, name, err)
			}
		}
	}
	if now := len(kafkatest.Read(t, c, model.LogTopic(cfg.Model))); now != records {
		t.Errorf("the log has %d records, before %d", now, records)
	}
	if was, err := admin.Resume(t.Context(), cfg); err != nil || was == nil {
		t.Errorf("resume with the keys: %v, %v", was, err)
	}
}
