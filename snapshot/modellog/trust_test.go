package modellog

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

// trusting returns a journal with a writer that signs and a reader that trusts
// only its key.
func trusting(t testing.TB, id snapshot.TopicID) *journal {
	j := newJournal(t)
	j.key = testKey(1)
	j.fold = NewFold(0, 2, trust(1))
	c := claim(1, 1)
	c.TopicID = id
	j.counts(c, genesis(c.Owner, id, 0))
	return j
}

func trust(seed byte) Option { return WithKey(testKey(seed).Public().(ed25519.PublicKey)) }

// A writer that has access to a signed log but not to the key can neither claim
// it nor decide, resume or roll back anything in it.
func TestForgedRecordsAreVoid(t *testing.T) {
	j := trusting(t, snapshot.TopicID{7})
	j.batches(3)
	m := j.save()
	j.counts(&Pause{Owner: j.owner(), Seq: 3, Bad: 1, Of: 1})
	for _, key := range []ed25519.PrivateKey{nil, testKey(2)} {
		j.key = key
		c := claim(9, 9)
		c.TopicID = snapshot.TopicID{7}
		forged := []Record{
			c, j.batch(1), chained(j.fold, &Gap{Topic: "in", To: 1}), chained(j.fold, adoption()),
			chained(j.fold, &Upgrade{Versions: Versions{1, 1}}), chained(j.fold, &Rollback{ToSeq: 1}),
			&Resume{Owner: j.owner(), Seq: 3}, &Released{Owner: j.owner(), Seq: 1}, &Partitions{Owner: j.owner(), Topic: "in", Count: 1},
			&Config{Owner: j.owner(), Config: []byte(`{}`)}, &Pause{Owner: j.owner(), Seq: 3, Bad: 1, Of: 1},
		}
		missing := j.batch(1)
		missing.Seq, missing.Owner = 99, claim(8, 8).Owner // would break the log
		for _, r := range append(forged, missing) {
			j.void(r, "not signed by the trusted key")
		}
		j.void(&Chunk{Owner: claim(8, 8).Owner, Count: 1, Data: []byte("x")}, "the current claim") // this does not break it either
		rs, m := j.snapshot(700)
		for _, r := range rs { // these have no effect without a MANIFEST
			j.add(r)
		}
		j.void(j.finish(m), "not signed by the trusted key")
	}
	// A signature is valid for one record of one type only.
	j.key = testKey(1)
	b := j.batch(1)
	if err := Sign(b, j.key); err != nil {
		t.Fatal(err)
	}
	other := chained(j.fold, &Gap{Topic: "in", To: 1})
	other.Signature = b.Signature
	j.key = nil
	j.void(other, "not signed by the trusted key")
	j.counts(b)
	for _, begin := range []int64{0, m.Start.Offset} {
		f := j.from(begin, 2, trust(1))
		if f.Seq() != 4 || f.Claim().Epoch != 1 || f.Broken() != nil || !f.Genesis().Signed {
			t.Errorf("read from %d: seq %d under %v, %v", begin, f.Seq(), f.Claim().Owner, f.Broken())
		}
	}
	if f := j.from(m.Start.Offset, 2, trust(2)); f.Seeded() {
		t.Error("a fold begins with a snapshot that its key has not signed")
	}
}

func TestASignedLogIsReadWithoutAKey(t *testing.T) {
	j := trusting(t, snapshot.TopicID{7})
	j.batches(3)
	m := j.save()
	j.batches(2)
	for _, begin := range []int64{0, m.Start.Offset} {
		if f := j.from(begin, 2); f.Seq() != j.fold.Seq() || f.Genesis().Signed {
			t.Errorf("read from %d: seq %d, want %d", begin, f.Seq(), j.fold.Seq())
		}
	}
}

func TestAClaimOfAnotherLogIsVoid(t *testing.T) {
	j := trusting(t, snapshot.TopicID{7})
	for _, id := range []snapshot.TopicID{{8}, {}} {
		c := claim(5, 5)
		c.TopicID = id
		j.void(c, "it claims the log in topic id")
	}
}

// Signatures are required from the first signed CLAIM on. Earlier records of an
// older program count, and no more of them can be written.
func TestTheDutyToSignBeginsWithASignedClaim(t *testing.T) {
	j := newJournal(t)
	j.fold = NewFold(0, 2, trust(1))
	j.counts(claim(1, 1))
	j.batches(2)
	j.counts(claim(2, 2))
	j.batches(1)
	old := j.save()
	j.key = testKey(1)
	j.counts(claim(3, 3))
	j.key = nil
	j.void(claim(4, 4), "not signed")
	j.void(j.batch(1), "not signed")
	j.key = testKey(1)
	j.batches(1)
	m := j.save()
	if f := j.from(old.Start.Offset, 2, trust(1)); f.Seq() != j.fold.Seq() || len(f.Snapshots()) != 1 {
		t.Errorf("read from the unsigned snapshot: seq %d, %d snapshots", f.Seq(), len(f.Snapshots()))
	}
	if m.Genesis == nil || !m.Genesis.Signed {
		t.Errorf("manifest with genesis %+v", m.Genesis)
	}
	// A reader without a key reads the whole log.
	if f := j.from(0, 2); f.Seq() != j.fold.Seq()+0 && f.Claim().Epoch != 4 {
		t.Errorf("without a key: seq %d under %v", f.Seq(), f.Claim())
	}
}

// A signature covers members that the reader does not know, which a later program
// may add.
func TestSignatureCoversUnknownMembers(t *testing.T) {
	j := trusting(t, snapshot.TopicID{})
	b := j.batch(1)
	bare := mustEncode(t, b)
	bare = bytes.Replace(bare, []byte(`,"counts":`), []byte(`,"news":{"signature":"none"},"counts":`), 1)
	signed := func(signature []byte) []byte {
		b.Signature = signature
		member, _, _ := bytes.Cut(mustEncode(t, b)[len(mustEncode(t, j.batch(1)))-1:], []byte(`}`))
		return append(append(bytes.Clone(bare[:len(bare)-1]), member...), '}')
	}
	good := signed(ed25519.Sign(testKey(1), toSign("batch", 1, bare)))
	bad := bytes.Replace(good, []byte(`none`), []byte(`some`), 1)
	for _, c := range []struct {
		value  []byte
		counts bool
	}{{bad, false}, {good, true}} {
		v, err := j.fold.Add(j.fold.Next(), []byte("batch"), c.value)
		if err != nil || v.Counts() != c.counts {
			t.Errorf("%s: %v, %v", c.value, v, err)
		}
	}
}

// A record of a later version stops a reader only if it is signed.
func TestForgedLaterVersionsStopNobody(t *testing.T) {
	j := trusting(t, snapshot.TopicID{})
	value := bytes.Replace(mustEncode(t, j.batch(1)), []byte(`"version":1`), []byte(`"version":2`), 1)
	if v, err := j.fold.Add(j.fold.Next(), []byte("batch"), value); err != nil || !strings.Contains(v.Void, "not signed") {
		t.Errorf("%v, %v", v, err)
	}
	l := &Signed{Signature: ed25519.Sign(testKey(1), toSign("batch", 2, value))}
	member := mustEncode(t, &Released{Owner: anyone, Seq: 1, Signed: *l})
	member = member[bytes.Index(member, []byte(`,"signature"`)):]
	value = append(value[:len(value)-1], member...)
	if _, err := j.fold.Add(j.fold.Next(), []byte("batch"), value); !errors.Is(err, snapshot.ErrTooNew) {
		t.Error(err)
	}
}
