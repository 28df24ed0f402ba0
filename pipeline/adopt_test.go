package pipeline

import (
	"errors"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// contents returns the records of each partition of a topic.
func contents(t *testing.T, c *ingest.Client, topic string) (out [][]ingest.Record) {
	t.Helper()
	first, end, err := c.Offsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	for p := range end {
		r := input.NewCursor(c.Fetcher(topic, p))
		rs, err := r.Take(t.Context(), first[p], end[p], func(event.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rs)
	}
	return out
}

// refill creates a topic with the given records of each partition.
func refill(t *testing.T, c *ingest.Client, topic string, partitions [][]ingest.Record) {
	t.Helper()
	if err := c.Create(t.Context(), topic, len(partitions), nil); err != nil {
		t.Fatal(err)
	}
	for p, rs := range partitions {
		if err := c.Producer().Publish(t.Context(), topic, p, rs); err != nil {
			t.Fatal(err)
		}
	}
}

// recreate deletes a topic and creates it again with the given records.
func recreate(t *testing.T, addr string, c *ingest.Client, topic string, partitions [][]ingest.Record) {
	t.Helper()
	kafkatest.Delete(t, addr, topic)
	eventually(t, "the topic is gone", func() bool {
		_, err := c.Topic(t.Context(), topic)
		return errors.Is(err, ingest.ErrUnknownTopic)
	})
	refill(t, c, topic, partitions)
}

// uninterrupted returns the state hash that a new model has after all records.
func uninterrupted(t *testing.T, c *ingest.Client, topic string) snapshot.Hash {
	t.Helper()
	cfg, ev := learntest.Config(c, "whole", topic)
	learnAll(t, cfg)
	return learntest.FinalHash(t, ev)
}

func adopts(t *testing.T, c model.Config, a admin.Adoption) admin.AdoptReport {
	t.Helper()
	r, err := admin.Adopt(t.Context(), c, a)
	if err != nil || r.Record == nil {
		t.Fatalf("adopt %+v: %+v, %v", a, r, err)
	}
	return r
}

func TestARecreatedInputIsAdopted(t *testing.T) {
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	values := learntest.Rings(300)
	kafkatest.Fill(t, c, in, 1, values)
	want := uninterrupted(t, c, in)
	all := contents(t, c, in)
	recreate(t, addr, c, in, [][]ingest.Record{all[0][:170]})
	cfg, ev := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	old := finalSeq(t, ev)
	recreate(t, addr, c, in, [][]ingest.Record{all[0][45:]})
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, input.ErrHistory, "accrete adopt")

	dry := adopts(t, cfg, admin.Adoption{DryRun: true})
	r := adopts(t, cfg, admin.Adoption{Reason: "for a test"})
	if p := r.Record.Inputs[0].Partitions[0]; r.Rollback != nil || r.Record.Seq != old+1 || p.From != 170 || p.Next != 125 || dry.Record.Inputs[0].Partitions[0] != p {
		t.Errorf("adopted %+v, %+v, want partition 0 from 170 to 125 under seq %d; the dry run said %+v", r.Record, r.Rollback, old+1, dry.Record)
	}
	learnAll(t, cfg)
	if got := learntest.FinalHash(t, ev); got != want {
		t.Errorf("state hash %v, without the adoption %v", got, want)
	}
	v := proved(t, cfg, 0)
	if len(v.Unread) != 1 || v.Unread[0].FromSeq != 1 || v.Unread[0].ToSeq != old || v.FromSeq != old+1 || !strings.Contains(v.Unread[0].Why, "replaced") {
		t.Errorf("verify: %+v, want seqs 1 to %d unread, of a topic that was replaced", v, old)
	}
	if r, err := admin.Adopt(t.Context(), cfg, admin.Adoption{}); err != nil || r.Record != nil {
		t.Errorf("once more: %+v, %v; want nothing to do", r.Record, err)
	}
}

func TestAnEmptyTopicIsNotAdopted(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(100))
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	if err := c.Create(t.Context(), in+".empty", 1, nil); err != nil {
		t.Fatal(err)
	}
	_, err := admin.Adopt(t.Context(), cfg, admin.Adoption{Topics: map[string]string{in: in + ".empty"}})
	learntest.Wants(t, err, admin.ErrAdopt, in+".empty/0 is empty")
}

// A mirror has another name and other offsets. Decisions that no snapshot covers are
// made again from it.
func TestAMirroredInputIsAdopted(t *testing.T) {
	d, in := kafkatest.NewDisk(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, d.Addr, nil)
	values := learntest.Rings(300)
	kafkatest.Fill(t, c, in, 1, values)
	want := uninterrupted(t, c, in)
	all := contents(t, c, in)
	cfg, ev := learntest.Config(c, "m", in)
	cfg.Topics = []string{in + ".old"}
	refill(t, c, in+".old", [][]ingest.Record{all[0][:150]})
	learnAll(t, cfg)
	saved := finalSeq(t, ev)
	refill(t, c, in+".old", [][]ingest.Record{all[0][150:200]})
	learnAll(t, cfg)
	last := finalSeq(t, ev)
	d.Down(func() { // remove the second snapshot, as if the learner had been killed before it
		d.Change(model.LogTopic(cfg.Model), 0, func(bs [][]byte) [][]byte {
			n := len(bs)
			for n > 0 && !strings.Contains(string(bs[n-1]), `{"type":"batch"`) {
				n--
			}
			return bs[:n]
		})
	})
	c = kafkatest.ClientOf(t, d.Addr, nil)
	cfg.Client = c
	refill(t, c, in+".new", [][]ingest.Record{all[0][30:]})
	cfg.Topics = []string{in + ".new"}
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, input.ErrHistory, "not among")
	r := adopts(t, cfg, admin.Adoption{Topics: map[string]string{in + ".old": in + ".new"}})
	if p := r.Record.Inputs[0].Partitions[0]; r.Rollback == nil || r.ToSeq != saved || r.Record.Seq != last+2 || p.From != 150 || p.Next != 120 {
		t.Errorf("adopted %+v after %+v, want from 150 to 120 behind seq %d", r.Record, r.Rollback, saved)
	}
	learnAll(t, cfg)
	if got := learntest.FinalHash(t, ev); got != want {
		t.Errorf("state hash %v, without the adoption %v", got, want)
	}
	if v := proved(t, cfg, 1); len(v.Unread) > 0 || v.FromSeq != 1 {
		t.Errorf("verify: %+v, want everything, because both topics exist", v)
	}
	kafkatest.Delete(t, d.Addr, in+".old")
	eventually(t, "the topic is gone", func() bool {
		_, err := c.Topic(t.Context(), in+".old")
		return errors.Is(err, ingest.ErrUnknownTopic)
	})
	if v := proved(t, cfg, 1); len(v.Unread) != 1 || v.Unread[0].ToSeq != saved || !strings.Contains(v.Unread[0].Why, "replaced") {
		t.Errorf("verify: %+v, want seqs 1 to %d unread", v, saved)
	}
}

func TestTheWrongInputIsNotAdopted(t *testing.T) {
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	values := learntest.Rings(300)
	kafkatest.Fill(t, c, in, 3, values)
	cfg, _ := learntest.Config(c, "m", in)
	_, err := admin.Adopt(t.Context(), cfg, admin.Adoption{})
	learntest.Wants(t, err, input.ErrTopic, "no learner of this model has run")
	learnAll(t, cfg)
	all := contents(t, c, in)

	refill(t, c, in+".few", all[:2])
	refill(t, c, in+".other", [][]ingest.Record{all[1], all[2], all[0]})
	for _, wrong := range []struct{ old, now, want string }{
		{in, in + ".few", "only 2 partitions"},
		{in, in + ".other", "none of the records 0 to 99"},
		{in, in + ".none", "does not exist"},
		{"another", in, "has not learned from"},
	} {
		_, err := admin.Adopt(t.Context(), cfg, admin.Adoption{Topics: map[string]string{wrong.old: wrong.now}})
		learntest.Wants(t, err, admin.ErrAdopt, wrong.want)
	}
	other := map[string]string{in: in + ".other"}
	_, err = admin.Adopt(t.Context(), cfg, admin.Adoption{Topics: other, Offsets: map[int32]int64{0: 101, 1: 0, 2: 0}})
	learntest.Wants(t, err, admin.ErrAdopt, "so 101 is out of range")
	for _, right := range []struct {
		a    admin.Adoption
		next [3]int64
	}{
		{admin.Adoption{At: admin.AtEarliest}, [3]int64{0, 0, 0}},
		{admin.Adoption{At: admin.AtEnd}, [3]int64{100, 100, 100}},
		{admin.Adoption{At: admin.AtEnd, Offsets: map[int32]int64{1: 17}}, [3]int64{100, 17, 100}},
	} {
		right.a.Topics, right.a.DryRun = other, true
		r := adopts(t, cfg, right.a)
		for i, p := range r.Record.Inputs[0].Partitions {
			if p.Next != right.next[i] || (p.Fingerprint == 0) != (p.Next == 0) {
				t.Errorf("%+v: partition %d continues at %d, fingerprint %x; want %d", right.a, i, p.Next, p.Fingerprint, right.next[i])
			}
		}
	}
	learnAll(t, cfg) // nothing was written
	proved(t, cfg, 0)
	adopts(t, cfg, admin.Adoption{Topics: other, At: admin.AtEnd})
	cfg.Topics = []string{in + ".other"}
	if _, err := Open(t.Context(), cfg); err != nil {
		t.Errorf("with the new position: %v", err)
	}
}

// Equal records are told apart by the batch that they end, or not at all.
func TestRepeatedRecordsAreToldApart(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(200)
	tick := ingest.Record{Value: []byte(values[0])}
	var rs []ingest.Record
	for _, v := range values {
		rs = append(rs, ingest.Record{Value: []byte(v)}, tick)
	}
	refill(t, c, in, [][]ingest.Record{rs[:300]})
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	refill(t, c, in+".new", [][]ingest.Record{rs[40:]})
	r := adopts(t, cfg, admin.Adoption{Topics: map[string]string{in: in + ".new"}, DryRun: true})
	if p := r.Record.Inputs[0].Partitions[0]; p.Next != 260 {
		t.Errorf("continues at %d, want 260", p.Next)
	}
	refill(t, c, in+".twice", [][]ingest.Record{rs[40:300]})
	refill(t, c, in+".twice", [][]ingest.Record{rs[100:]})
	_, err := admin.Adopt(t.Context(), cfg, admin.Adoption{Topics: map[string]string{in: in + ".twice"}})
	learntest.Wants(t, err, admin.ErrAdopt, "several times, at offsets [259 459]")
}
