package oracle

import (
	"encoding/hex"
	"testing"
)

// TestLooseRecords has each of the rules for records that do not fit: one record that
// the rule must report, and beside it the nearest one that a loss of the log's tail
// explains. The log has reached seq 10, and a ROLLBACK with seq 15 comes last unless
// the case says otherwise.
func TestLooseRecords(t *testing.T) {
	const none = -1
	record := func(kind string, seq int64) entry {
		e := entry{Type: kind, Epoch: 3, Nonce: "aa", Seq: seq}
		e.sum[0], e.sum[1] = byte(seq), kind[0]
		return e
	}
	as := func(e entry, epoch int64, nonce string) entry {
		e.Epoch, e.Nonce = epoch, nonce
		return e
	}
	follows := func(o *oracle, e entry) entry {
		chain, err := link(o.chain, e)
		if err != nil {
			t.Fatal(err)
		}
		e.Chain = hex.EncodeToString(chain[:])
		return e
	}
	chunk := func(index int) entry {
		e := record("chunk", 0)
		e.Snapshot, e.index, e.Chunks, e.data = "s", index, 3, []byte{1}
		return e
	}
	of := func(e entry, chunks int) entry {
		e.Snapshot, e.Chunks = "s", chunks
		return e
	}
	for name, c := range map[string]struct {
		read     func(o *oracle)
		rollback int64 // seq; 0: 15
		reported bool
	}{
		"nothing is loose": {func(o *oracle) {}, none, false},

		"a BATCH after lost ones":                 {func(o *oracle) { o.stray(record("batch", 12), false) }, 0, false},
		"a BATCH that nobody took back":           {func(o *oracle) { o.stray(record("batch", 12), false) }, none, true},
		"a BATCH with the seq of the ROLLBACK":    {func(o *oracle) { o.stray(record("batch", 12), false) }, 12, true},
		"a BATCH of a lost claim":                 {func(o *oracle) { o.stray(record("batch", 12), true) }, 0, false},
		"a BATCH of a claim that nobody missed":   {func(o *oracle) { o.stray(record("batch", 12), true) }, none, true},
		"another BATCH with a seq in the log":     {func(o *oracle) { o.stray(record("batch", 10), true) }, 0, true},
		"the next BATCH, with another chain":      {func(o *oracle) { o.stray(record("batch", 11), true) }, 0, true},
		"the next BATCH, under the current claim": {func(o *oracle) { o.stray(follows(o, record("batch", 11)), false) }, 0, true},
		"the next BATCH, of a lost claim":         {func(o *oracle) { o.stray(follows(o, record("batch", 11)), true) }, 0, false},

		"a GENESIS":                  {func(o *oracle) { o.stray(record("genesis", 12), true) }, 0, true},
		"an UPGRADE of a lost claim": {func(o *oracle) { o.stray(record("upgrade", 12), true) }, 0, true},
		"an UPGRADE after lost ones": {func(o *oracle) { o.stray(record("upgrade", 12), false) }, 0, false},

		"the end of a snapshot without its beginning": {func(o *oracle) { o.stray(chunk(2), false) }, none, false},
		"a chunk of a lost claim":                     {func(o *oracle) { o.stray(chunk(2), true) }, none, true},
		"a chunk after all that precede it":           {func(o *oracle) { o.chunks["s"] = 2; o.stray(chunk(2), false) }, 0, true},
		"the first chunk, in the middle of another":   {func(o *oracle) { o.stray(chunk(0), false) }, none, false},
		"a MANIFEST without all of its chunks":        {func(o *oracle) { o.chunks["s"] = 2; o.stray(of(record("manifest", 9), 3), false) }, none, false},
		"a MANIFEST with all of its chunks":           {func(o *oracle) { o.chunks["s"] = 3; o.stray(of(record("manifest", 9), 3), false) }, 0, true},
		"a CHALLENGER without all of its chunks":      {func(o *oracle) { o.stray(of(record("challenger", 9), 1), false) }, none, false},
		"a CHALLENGER with all of its chunks":         {func(o *oracle) { o.chunks["s"] = 1; o.stray(of(record("challenger", 9), 1), false) }, 0, true},
		"a RELEASED up to what is lost":               {func(o *oracle) { o.stray(record("released", 12), false) }, 0, false},
		"a PAUSE at a seq before the last":            {func(o *oracle) { o.stray(record("pause", 9), false) }, 0, true},

		"two learners, each with its claim lost": {func(o *oracle) { o.stray(record("batch", 12), true); o.stray(as(record("batch", 13), 4, "bb"), true) }, 0, false},
		"two learners under one epoch":           {func(o *oracle) { o.stray(record("batch", 12), true); o.stray(as(record("batch", 13), 3, "bb"), true) }, 0, true},
		"a learner under two epochs": {func(o *oracle) {
			o.stray(record("batch", 12), true)
			o.stray(as(record("released", 13), 4, "aa"), true)
		}, 0, true},
		"a second append of a learner":              {func(o *oracle) { o.stray(record("batch", 12), false); o.stray(record("batch", 13), false) }, 0, true},
		"the same append twice":                     {func(o *oracle) { o.stray(record("batch", 12), false); o.stray(record("batch", 12), false) }, 0, false},
		"a learner that goes on after the loss":     {func(o *oracle) { o.stray(record("batch", 12), false); o.goesOn("aa") }, 0, true},
		"another learner that goes on after a loss": {func(o *oracle) { o.stray(record("batch", 12), false); o.goesOn("bb") }, 0, false},
	} {
		o := &oracle{book: newBook()}
		o.seq, o.chain, o.epoch, o.nonce = 10, [32]byte{7}, 3, "aa"
		c.read(o)
		if c.rollback == 0 {
			c.rollback = 15
		}
		if c.rollback != none {
			o.takeBack(c.rollback)
		}
		o.unaccounted()
		if (o.Divergences > 0) != c.reported {
			t.Errorf("%s: reported: %v: %q", name, !c.reported, o.Faults)
		}
	}
}
