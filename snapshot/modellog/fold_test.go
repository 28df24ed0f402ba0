package modellog

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

// journal is a model log in memory with a writer that follows the rule.
type journal struct {
	t      testing.TB
	fold   *Fold
	values [][2][]byte
	key    ed25519.PrivateKey // signs the records, if it is not nil
}

func newJournal(t testing.TB) *journal { return &journal{t: t, fold: NewFold(0, 2)} }

// add appends r and returns why it is void.
func (j *journal) add(r Record) (void string) {
	j.t.Helper()
	if s, ok := r.(signable); ok && j.key != nil && len(*s.signature()) == 0 {
		if err := Sign(r, j.key); err != nil {
			j.t.Fatal(err)
		}
	}
	key, value, err := Encode(r)
	if err != nil {
		j.t.Fatal(err)
	}
	j.values = append(j.values, [2][]byte{key, value})
	v, err := j.fold.Add(int64(len(j.values)-1), key, value)
	if err != nil {
		j.t.Fatal(err)
	}
	return v.Void
}

// counts appends records that have to count.
func (j *journal) counts(rs ...Record) {
	j.t.Helper()
	for _, r := range rs {
		if void := j.add(r); void != "" {
			j.t.Fatalf("%s %v is void: %s", r.Type(), r, void)
		}
	}
}

// void appends a record that has to be void for the given reason.
func (j *journal) void(r Record, reason string) {
	j.t.Helper()
	if void := j.add(r); !strings.Contains(void, reason) || void == "" {
		j.t.Errorf("%s %v: void %q, want %q", r.Type(), r, void, reason)
	}
}

func (j *journal) owner() Owner { return j.fold.Claim().Owner }

// batch returns the next BATCH. Its content is determined by digest.
func (j *journal) batch(digest uint64) *Batch { return nextBatch(j.fold, j.owner(), digest) }

func nextBatch(f *Fold, o Owner, digest uint64) *Batch {
	seq := f.Seq() + 1
	b := &Batch{Owner: o, Seq: seq, Ranges: []Range{{Topic: "in", From: seq, To: seq + 1, Records: 1, Digest: digest}}}
	b.Chain = NextChain(f.Chain(), b)
	return b
}

// snapshot returns the chunks and the unfinished manifest of a snapshot at the
// last seq.
func (j *journal) snapshot(size int) ([]Record, *Manifest) {
	j.t.Helper()
	s := sample()
	s.Seq, s.Chain, s.Epoch = j.fold.Seq(), j.fold.Chain(), j.owner().Epoch
	chunks, m, err := Split(encode(j.t, s), j.owner(), size)
	if err != nil {
		j.t.Fatal(err)
	}
	var rs []Record
	for _, c := range chunks {
		rs = append(rs, c)
	}
	return rs, m
}

func (j *journal) finish(m *Manifest) *Manifest {
	j.t.Helper()
	if err := j.fold.Finish(m); err != nil {
		j.t.Fatal(err)
	}
	return m
}

func claim(epoch int64, nonce byte) *Claim {
	return &Claim{Owner: Owner{Epoch: epoch, Nonce: snapshot.ID{nonce}}, Host: fmt.Sprint("host-", nonce)}
}

func TestRuleOfTheLog(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1), &Config{Owner: claim(1, 1).Owner, Config: json.RawMessage(`{"a":1}`)})
	j.counts(j.batch(1))
	j.counts(j.batch(2))
	j.void(claim(1, 2), "the current epoch is 1")
	zombie := j.batch(3)
	j.counts(claim(5, 2)) // greater, not only one more
	j.void(zombie, "current claim is epoch 5")
	j.void(&Config{Owner: zombie.Owner, Config: json.RawMessage(`{"a":2}`)}, "current claim is epoch 5")
	j.void(&Released{Owner: zombie.Owner, Seq: 1}, "current claim is epoch 5")
	j.void(claim(4, 1), "the current epoch is 5")

	sameEpoch := j.batch(4)
	sameEpoch.Nonce = snapshot.ID{1}
	j.void(sameEpoch, "current claim is epoch 5")
	sameNonce := j.batch(4)
	sameNonce.Epoch = 2
	j.void(sameNonce, "current claim is epoch 5")

	next := j.batch(4)
	j.counts(next)
	j.void(next, "last seq is 3")
	gap := &Gap{Owner: j.owner(), Seq: 4, Topic: "in", From: 4, To: 9}
	gap.Chain = NextChain(j.fold.Chain(), gap)
	j.counts(gap, &Released{Owner: j.owner(), Seq: 4}, &Released{Owner: j.owner(), Seq: 3})
	j.void(&Released{Owner: j.owner(), Seq: 5}, "last seq is 4")
	if j.fold.Seq() != 4 || j.fold.Released() != 4 || !reflect.DeepEqual(j.fold.Claim(), *claim(5, 2)) || string(j.fold.Config().Config) != `{"a":1}` {
		t.Errorf("seq %d, released %d, claim %v, config %s", j.fold.Seq(), j.fold.Released(), j.fold.Claim(), j.fold.Config().Config)
	}
}

func TestRuleOfSnapshots(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.counts(j.batch(1))
	early, m0 := j.snapshot(700)
	j.counts(j.batch(2))
	rs, m := j.snapshot(500)
	if len(rs) < 3 {
		t.Fatalf("%d chunks", len(rs))
	}
	if err := j.fold.Finish(m); err == nil {
		t.Error("finished before any chunk")
	}
	j.void(rs[1], "no first chunk")
	j.counts(rs[0])
	j.void(rs[2], "chunk 2 is missing")
	j.counts(rs[1])
	j.void(rs[1], "duplicate chunk")
	j.void(early[1], "no first chunk")
	if err := j.fold.Finish(m); err == nil {
		t.Error("finished before the last chunk")
	}
	unfinished := *m
	unfinished.FirstChunk = 3
	j.void(&unfinished, "incomplete")
	j.counts(j.batch(3)) // the learner continues meanwhile
	j.counts(rs[2:]...)
	j.finish(m)
	for _, c := range []struct {
		reason string
		do     func(m *Manifest)
	}{
		{"contradicts its chunks", func(m *Manifest) { m.FirstChunk++ }},
		{"contradicts its chunks", func(m *Manifest) { m.Size-- }},
		{"contradicts its chunks", func(m *Manifest) { m.Size += 500; m.Chunks++ }},
		{"contradicts its chunks", func(m *Manifest) { m.Size++ }},
		{"contradicts its chunks", func(m *Manifest) { m.ChunkSize++ }},
		{"another position", func(m *Manifest) { m.Start.Offset-- }},
		{"another position", func(m *Manifest) { m.Start.Nonce[5]++ }},
		{"another position or chain", func(m *Manifest) { m.Chain[0]++ }},
		{"there is no seq 4", func(m *Manifest) { m.Seq = 4 }},
		{"current claim", func(m *Manifest) { m.Nonce[0]++ }},
		{"states arithmetic 2", func(m *Manifest) { m.Genesis = &Origin{Versions: Versions{2, 1}} }},
		{"incomplete", func(m *Manifest) { m.SHA256[0]++; m.Snapshot = snapshot.ID(m.SHA256[:16]) }},
	} {
		bad := *m
		c.do(&bad)
		j.void(&bad, c.reason)
	}
	if len(j.fold.Snapshots()) != 0 {
		t.Error("a snapshot before its manifest")
	}
	j.counts(m)
	j.void(m, "incomplete")
	s := j.fold.Snapshots()
	if len(s) != 1 || s[0].Manifest != m && !reflect.DeepEqual(s[0].Manifest, m) || len(s[0].Chunks) != len(rs) || s[0].Chunks[0] != m.FirstChunk {
		t.Fatalf("snapshots %+v", s)
	}
	if j.fold.Released() != 2 {
		t.Errorf("released %d behind a manifest at 2", j.fold.Released())
	}
	j.counts(early...)
	if err := j.fold.Finish(m0); err != nil {
		t.Error(err)
	}
	j.void(m0, "there is a newer snapshot, at seq 2")
	// A claim abandons the snapshot in progress of the previous one.
	again, _ := j.snapshot(700)
	j.counts(again[0], claim(2, 2))
	j.void(again[1], "current claim is epoch 2")
	for _, r := range again {
		r.(*Chunk).Owner = j.owner()
	}
	j.void(again[1], "no first chunk") // even with the same bytes
	again, m2 := j.snapshot(700)
	j.void(again[1], "no first chunk")
	j.counts(again...)
	j.counts(j.finish(m2))
	if m2.Previous != s[0].Offset || m2.Seq != 3 {
		t.Errorf("manifest %+v, want the one before at %d", m2, s[0].Offset)
	}
	// The same snapshot again, as after a restart without new input.
	j.counts(claim(3, 3))
	again, m2 = j.snapshot(700)
	j.counts(again...)
	j.counts(j.finish(m2))
}

func TestRecoverGoesBackToTheBeginningAndNoFurther(t *testing.T) {
	j := newJournal(t)
	seqs := func(back int) (at int64, seqs []int64, ok bool) {
		r, ok := j.fold.Recover(back)
		at = -1
		if r.Snapshot != nil {
			at = r.Snapshot.Manifest.Seq
		}
		for _, e := range r.Entries {
			if b, ok := e.Record.(*Batch); ok {
				seqs = append(seqs, b.Seq)
			} else {
				seqs = append(seqs, 0)
			}
		}
		return at, seqs, ok
	}
	want := func(back int, wantAt int64, want []int64, wantOK bool) {
		t.Helper()
		if at, got, ok := seqs(back); at != wantAt || !slices.Equal(got, want) || ok != wantOK {
			t.Errorf("recover(%d): at %d, %v, %v, want %d, %v, %v", back, at, got, ok, wantAt, want, wantOK)
		}
	}
	snap := func() {
		rs, m := j.snapshot(700)
		j.counts(rs...)
		j.counts(j.finish(m))
	}
	config := func(s string) *Config { return &Config{Owner: j.owner(), Config: json.RawMessage(s)} }
	want(0, -1, nil, true) // an empty log
	j.counts(claim(1, 1))
	j.counts(config(`1`))
	j.counts(j.batch(1))
	want(0, -1, []int64{0, 1}, true)
	snap()
	j.counts(j.batch(2))
	want(0, 1, []int64{2}, true)
	want(1, -1, []int64{0, 1, 2}, true)
	want(2, -1, nil, false)
	snap()
	j.counts(config(`2`))
	j.counts(j.batch(3))
	want(0, 2, []int64{0, 3}, true)
	want(1, 1, []int64{2, 0, 3}, true)
	want(2, -1, nil, false) // the fold keeps two
	if r, _ := j.fold.Recover(0); r.Released != 2 {
		t.Errorf("released %d", r.Released)
	}
	snap()
	want(1, 2, []int64{0, 3}, true)
	rs, m := j.snapshot(700) // the learner continues while it is written
	j.counts(config(`3`))
	j.counts(j.batch(4))
	j.counts(rs...)
	j.counts(j.finish(m))
	want(0, 3, []int64{0, 4}, true)
	snap()
	want(1, 3, []int64{0, 4}, true)
	if trim, want := j.fold.Trim(), j.fold.Snapshots()[1].Manifest.Start.Offset; trim != want {
		t.Errorf("trim %d, want %d", trim, want)
	}
}

func TestFoldStopsAtALaterVersionAndNothingElse(t *testing.T) {
	f := NewFold(0, 1)
	for i, value := range []string{"", "x", `{"type":"batch","version":1}`, "\x89ACK", "null"} {
		v, err := f.Add(int64(i), []byte("batch"), []byte(value))
		if err != nil || v.Void == "" || v.Counts() || v.Type != "batch" {
			t.Errorf("%q: %+v, %v", value, v, err)
		}
	}
	j := newJournal(t)
	j.counts(claim(3, 1))
	later := func(typ string, epoch, nonce byte) (key, value []byte) {
		return []byte(typ), fmt.Appendf(nil, `{"type":%q,"version":2,"epoch":%d,"nonce":"%02x000000000000000000000000000000","x":1}`, typ, epoch, nonce)
	}
	chunk := (&Chunk{Owner: claim(3, 1).Owner, Count: 1, Data: []byte("x")}).encode()
	for _, foreign := range []func() (key, value []byte){
		func() ([]byte, []byte) { return []byte("batch"), []byte(`{"type":"batch","version":2}`) },
		func() ([]byte, []byte) { return later("batch", 2, 1) },
		func() ([]byte, []byte) { return later("batch", 3, 2) },
		func() ([]byte, []byte) { return later("claim", 3, 2) },
		func() ([]byte, []byte) { return later("news", 1, 2) },
	} {
		key, value := foreign()
		if v, err := j.fold.Add(j.fold.Next(), key, value); err != nil || v.Void == "" || v.Record != nil {
			t.Errorf("%s: %v, %v", value, v, err)
		}
	}
	chunk[4] = 2
	binary.LittleEndian.PutUint32(chunk[60:], chunkSum(chunk))
	for _, ours := range []func() (key, value []byte){
		func() ([]byte, []byte) { return later("batch", 3, 1) },
		func() ([]byte, []byte) { return later("claim", 4, 2) },
		func() ([]byte, []byte) { return later("news", 3, 1) },
		func() ([]byte, []byte) { return []byte("chunk"), chunk },
	} {
		key, value := ours()
		f := NewFold(0, 1)
		f.Judge(0, claim(3, 1))
		for at := int64(1); at < 3; at++ { // and at the following records too
			if _, err := f.Add(at, key, value); !errors.Is(err, snapshot.ErrTooNew) {
				t.Errorf("%q: %v", value, err)
			}
			key, value, _ = Encode(claim(5, 1))
		}
	}
	if v := f.Judge(4, claim(1, 1)); v.Void == "" {
		t.Error("an offset was read twice")
	}
}

func TestPauseLastsUntilItsResume(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.counts(j.batch(1))
	j.counts(j.batch(2))
	j.void(&Pause{Owner: j.owner(), Seq: 1, Bad: 1, Of: 1}, "the last seq is 2")
	pause := &Pause{Owner: j.owner(), Seq: 2, Bad: 501, Of: 900, Reason: "x"}
	j.void(&Resume{Owner: j.owner(), Seq: 2}, "there is no such pause")
	j.counts(pause)
	chunks, m := j.snapshot(0)
	j.counts(chunks...)
	j.counts(j.finish(m))
	j.counts(claim(2, 2)) // a restart does not end the pause
	j.void(&Resume{Owner: claim(1, 1).Owner, Seq: 2}, "current claim is epoch 2")
	j.void(&Resume{Owner: j.owner(), Seq: 1}, "there is no such pause")
	later := NewFold(m.Start.Offset, 1)
	for i := int(m.Start.Offset); i < len(j.values); i++ {
		if _, err := later.Add(int64(i), j.values[i][0], j.values[i][1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []*Fold{j.fold, later} {
		if got := f.Paused(); !reflect.DeepEqual(got, pause) {
			t.Errorf("paused by %v, want %v", got, pause)
		}
	}
	j.counts(&Resume{Owner: j.owner(), Seq: 2, By: "ann"})
	if p := j.fold.Paused(); p != nil {
		t.Errorf("still paused: %v", p)
	}
	late := *pause
	late.Owner = j.owner()
	j.void(&late, "its pause has ended") // as in a late copy of its append
	j.counts(j.batch(3))
	j.counts(&Pause{Owner: j.owner(), Seq: 3, Bad: 1, Of: 1})
	j.counts(j.batch(4))
	if p := j.fold.Paused(); p != nil {
		t.Errorf("paused behind a later BATCH: %v", p)
	}
}
