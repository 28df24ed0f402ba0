package modellog

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
)

// ledger is what a fold knows from some point of the log on.
type ledger struct {
	keep     int
	base     point // where the oldest snapshot to be kept stands, or the beginning
	claim    Claim
	config   Config
	seq      int64
	chain    snapshot.Hash
	released int64
	paused   *Pause
	resumed  int64
	entries  []Entry  // behind base
	kept     []Stored // the oldest first
	pending  pending

	challengers []StoredChallenger // the oldest first
	challenge   pending            // of a challenger
}

// point is a place in history: behind a BATCH or GAP.
type point struct {
	seq   int64
	chain snapshot.Hash
	start Mark
}

// pending are the chunks of a snapshot under way.
type pending struct {
	id        snapshot.ID
	count     int
	chunkSize int // of the first, which all but the last have
	size      int64
	offsets   []int64
}

// judge returns why r is void, or takes it in and returns "". Of a chunk it
// wants the size of its data beside it.
func (l *ledger) judge(offset int64, r Record, size int) (void string) {
	if c, ok := r.(*Claim); ok {
		if c.Epoch <= l.claim.Epoch {
			return fmt.Sprintf("epoch %d is in force", l.claim.Epoch)
		}
		l.claim, l.pending, l.challenge = *c, pending{}, pending{}
		return ""
	}
	if o := r.owner(); o != l.claim.Owner {
		if l.claim.Epoch == 0 {
			return "no claim is in force"
		}
		return fmt.Sprintf("written under %v, in force is %v", o, l.claim.Owner)
	}
	switch r := r.(type) {
	case *Config:
		l.config = *r
		l.entries = append(l.entries, Entry{offset, r})
	case *Batch:
		return l.decide(offset, r, r.Seq, r.Chain)
	case *Gap:
		return l.decide(offset, r, r.Seq, r.Chain)
	case *Released:
		if r.Seq > l.seq {
			return fmt.Sprintf("the last seq is %d", l.seq)
		}
		l.released = max(l.released, r.Seq)
	case *Pause:
		if r.Seq != l.seq {
			return fmt.Sprintf("the last seq is %d", l.seq)
		}
		l.paused = r
	case *Resume:
		if l.paused == nil || l.paused.Seq != r.Seq {
			return "there is no such pause"
		}
		l.paused, l.resumed = nil, r.Seq
	case *Chunk:
		if r.Challenger {
			return l.challenge.chunk(offset, r, size)
		}
		return l.pending.chunk(offset, r, size)
	case *Challenger:
		return l.challenged(offset, r)
	case *Manifest:
		return l.complete(offset, r)
	default:
		panic("modellog: no rule for a " + r.Type())
	}
	return ""
}

func (l *ledger) decide(offset int64, r Record, seq int64, chain snapshot.Hash) (void string) {
	if seq != l.seq+1 {
		return fmt.Sprintf("the last seq is %d", l.seq)
	}
	if want := NextChain(l.chain, r); chain != want {
		return fmt.Sprintf("its chain is %v, want %v", chain, want)
	}
	l.seq, l.chain, l.paused = seq, chain, nil
	l.entries = append(l.entries, Entry{offset, r})
	return ""
}

func (p *pending) chunk(offset int64, c *Chunk, size int) (void string) {
	if c.Index == 0 && c.Snapshot != p.id {
		*p = pending{id: c.Snapshot, count: c.Count, chunkSize: size}
	}
	switch {
	case c.Snapshot != p.id || c.Count != p.count:
		return "its snapshot has not begun"
	case c.Index < len(p.offsets):
		return "this chunk is there already"
	case c.Index > len(p.offsets):
		return fmt.Sprintf("chunk %d is missing", len(p.offsets)+1)
	case c.Index < c.Count-1 && size != p.chunkSize || size > p.chunkSize:
		return fmt.Sprintf("has %d bytes, the first chunk %d", size, p.chunkSize)
	}
	p.offsets = append(p.offsets, offset)
	p.size += int64(size)
	return ""
}

// differs says why m does not complete p, if it does not.
func (p *pending) differs(m *Manifest) string {
	if p.id != m.Snapshot || len(p.offsets) != p.count {
		return fmt.Sprintf("its chunks are not all there: %d of %d of snapshot %v", len(p.offsets), p.count, p.id)
	}
	if p.count != m.Chunks || p.size != m.Size || p.chunkSize != m.ChunkSize && m.Chunks > 1 || p.offsets[0] != m.FirstChunk {
		return "its chunks are not as it says"
	}
	return ""
}

func (l *ledger) complete(offset int64, m *Manifest) (void string) {
	p := l.pending
	if void := p.differs(m); void != "" {
		return void
	}
	if n := len(l.kept); n > 0 && m.Seq < l.kept[n-1].Manifest.Seq {
		return fmt.Sprintf("there is a snapshot at seq %d", l.kept[n-1].Manifest.Seq)
	}
	at, ok := l.find(m.Seq)
	if !ok {
		return fmt.Sprintf("the last seq is %d", l.seq)
	}
	if at.chain != m.Chain || at.start != m.Start {
		return fmt.Sprintf("seq %d stands elsewhere, or has another chain", m.Seq)
	}
	l.released = max(l.released, m.Seq)
	l.kept = append(l.kept, Stored{Manifest: m, Offset: offset, Chunks: p.offsets})
	l.pending = pending{}
	if len(l.kept) > l.keep {
		l.kept = slices.Delete(l.kept, 0, len(l.kept)-l.keep)
	}
	if len(l.kept) == l.keep {
		oldest := l.kept[0].Manifest
		l.base = point{oldest.Seq, oldest.Chain, oldest.Start}
		l.entries = slices.DeleteFunc(l.entries, func(e Entry) bool { return e.Offset < l.base.start.Offset })
	}
	return ""
}

// find is the point behind seq, if it is not before base nor to come.
func (l *ledger) find(seq int64) (p point, ok bool) {
	if seq == l.base.seq {
		return l.base, true
	}
	for i := len(l.entries) - 1; i >= 0; i-- { // what is asked for is near the end
		if p, ok := behind(l.entries[i].Offset, l.entries[i].Record); ok && p.seq <= seq {
			return p, p.seq == seq
		}
	}
	return point{}, false
}

// behind is the place behind a BATCH or GAP.
func behind(offset int64, r Record) (p point, ok bool) {
	switch r := r.(type) {
	case *Batch:
		return point{r.Seq, r.Chain, Mark{offset + 1, r.Owner}}, true
	case *Gap:
		return point{r.Seq, r.Chain, Mark{offset + 1, r.Owner}}, true
	}
	return p, false
}

func (l *ledger) finish(m *Manifest, p pending) error {
	if p.id != m.Snapshot || len(p.offsets) != m.Chunks {
		return fmt.Errorf("snapshot %v: the log has %d of %d chunks of %v", m.Snapshot, len(p.offsets), p.count, p.id)
	}
	at, ok := l.find(m.Seq)
	if !ok || at.chain != m.Chain {
		return fmt.Errorf("snapshot %v: seq %d with chain %v is not in the log", m.Snapshot, m.Seq, m.Chain)
	}
	m.Owner = l.claim.Owner
	m.FirstChunk = p.offsets[0]
	m.Start = at.start
	return nil
}
