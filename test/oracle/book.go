package oracle

import (
	"bytes"
	"cmp"
	"encoding/hex"
)

// book is the state of the log: its current owner and the decided history.
type book struct {
	epoch  int64           // epoch of the valid claim
	nonce  string          //
	owners map[string]bool // nonces of all claims so far

	genesis bool
	id      [16]byte // id of the log's topic according to its records; zero if none named it
	options []byte

	seq, highest int64
	chain        [32]byte
	points       map[int64]point // by seq, for the current history
	ids          map[string]string
	counted      map[[32]byte]bool // valid records, by hash
	paused       map[int64]bool    // seqs that have ever had a PAUSE
	taken        []taken           // ranges revoked by a ROLLBACK
	loose        []loose
	copies       map[string]int // by snapshot id: number of its chunks that were written again, in their order
	chunks       map[string]int // by snapshot id: number of its different chunks so far
}

// point is the position of an entry of the history, and the claim that it was
// written under.
type point struct {
	chain  string
	offset int64 // offset after the record
	epoch  int64
	nonce  string
}

// taken is a range of revoked seqs, from to to-1.
type taken struct{ from, to int64 }

func newBook() book {
	return book{
		owners: map[string]bool{}, points: map[int64]point{0: {chain: hex.EncodeToString(make([]byte, 32))}},
		ids: map[string]string{}, counted: map[[32]byte]bool{}, paused: map[int64]bool{}, chunks: map[string]int{},
	}
}

// read accounts for a record of the log.
func (o *oracle) read(r Record) {
	e, err := parse(r)
	switch {
	case err != nil:
		o.fault("nobody writes what lies at offset %d of the log: %v", r.Offset, err)
	case e.Type == "claim" && e.Epoch > o.epoch:
		o.claim(e)
	case e.Type == "claim": // superseded before it arrived
		o.owners[e.Nonce] = true
		o.Void++
	case !o.owners[e.Nonce] && e.Epoch > o.epoch: // its claim may have been lost
		o.stray(e, true)
	case !o.owners[e.Nonce]:
		o.fault("the %s at offset %d is of epoch %d, nonce %s, which nobody has claimed", e.Type, e.offset, e.Epoch, e.Nonce)
	case e.Epoch != o.epoch || e.Nonce != o.nonce: // from a replaced learner
		o.Void++
	case o.counted[e.sum]: // a duplicate
		o.rewritten(e)
		o.Void++
	case o.fits(e):
		o.counted[e.sum] = true
		if e.data != nil {
			o.chunks[e.Snapshot]++
		}
		o.goesOn(e.Nonce)
	default:
		o.stray(e, false)
	}
	o.highest = max(o.highest, e.Seq)
}

func (o *oracle) claim(e entry) {
	o.epoch, o.nonce = e.Epoch, e.Nonce
	o.owners[e.Nonce] = true
	o.file, o.rival = file{}, file{}
	o.copies = map[string]int{}
	o.topic(e)
}

// topic compares the topic id in a record with the id of the topic that contains the record.
func (o *oracle) topic(e entry) {
	id, err := topicID(e.TopicID)
	if e.TopicID == "" || err == nil && id == [16]byte{} { // from a broker without topic ids
		return
	}
	is := o.world.LogID
	if is == [16]byte{} {
		is = o.id
	}
	if err != nil || is != [16]byte{} && id != is {
		o.fault("the %s at offset %d is of a log in the topic with id %s, and this is %x", e.Type, e.offset, e.TopicID, is)
	}
	o.id = id
}

// fits processes a record of the valid claim and reports whether it fits here.
func (o *oracle) fits(e entry) bool {
	switch e.Type {
	case "genesis":
		if o.genesis || o.Batches > 0 {
			return false
		}
		o.genesis = true
		o.topic(e)
		chain, _ := hex.DecodeString(e.Chain)
		o.chain = [32]byte{}
		copy(o.chain[:], chain)
		o.seq = e.Seq
		o.points = map[int64]point{e.Seq: {chain: hex.EncodeToString(o.chain[:])}}
		return true
	case "imported":
		return e.Seq == o.seq && e.Chain == hex.EncodeToString(o.chain[:])
	case "config":
		return o.config(e)
	case "batch", "gap", "adopt", "upgrade", "rollback":
		return o.decided(e)
	case "released":
		if e.Seq > o.seq {
			return false
		}
		o.Manifests = append(o.Manifests, Claimed{e.offset, e.Seq})
		return true
	case "pause":
		if e.Seq != o.seq {
			return false
		}
		o.paused[e.Seq] = true
		return true
	case "resume":
		return o.paused[e.Seq]
	case "partitions":
		return e.Topic != ""
	case "chunk":
		return o.file.add(e)
	case "challenger chunk":
		return o.rival.add(e)
	case "manifest":
		return o.manifest(e)
	case "challenger":
		return o.challenger(e)
	}
	return false
}

// decided processes an entry of the history.
func (o *oracle) decided(e entry) bool {
	chain, err := link(o.chain, e)
	if err != nil || e.Chain != hex.EncodeToString(chain[:]) || o.model.learner == nil {
		return false
	}
	if to, ok := o.points[e.ToSeq]; e.Type == "rollback" {
		if !ok || to.chain != e.ToChain || e.Seq <= o.highest { // seqs are never reused
			return false
		}
	} else if e.Seq != o.seq+1 {
		return false
	}
	o.seq, o.chain = e.Seq, chain
	o.Batches++
	o.BatchAt[e.Seq] = e.offset
	switch e.Type {
	case "batch":
		o.batch(e)
	case "gap":
		o.gap(e)
	case "adopt":
		o.adopt(e)
	case "upgrade":
		o.model.turn("upgrade", e.Seq)
	case "rollback":
		o.rollback(e)
	}
	o.points[e.Seq] = point{e.Chain, e.offset + 1, e.Epoch, e.Nonce}
	o.remember(e.Seq)
	return true
}

func (o *oracle) config(e entry) bool {
	if o.options != nil {
		return bytes.Equal(o.options, e.Config)
	}
	o.options = e.Config
	if err := o.model.begin(e.Config); err != nil {
		o.fault("CONFIG: %v", err)
		return true
	}
	o.remember(o.seq)
	return true
}

// cover records that the offsets [from, to) of p are processed, each exactly
// once.
func (o *oracle) cover(p Partition, id string, from, to int64) {
	if next, ok := o.Next[p]; ok && next != from {
		o.fault("%v is decided up to %d and then from %d on", p, next, from)
	}
	if was := cmp.Or(o.ids[p.Topic], id); was != id {
		o.fault("%v was the topic with id %s, and is %s without an ADOPT", p, was, id)
	}
	o.ids[p.Topic] = id
	o.Next[p] = to
	o.Consumed += to - from
}

func (o *oracle) gap(e entry) {
	p := Partition{e.Topic, e.Partition}
	o.cover(p, e.TopicID, e.From, e.To)
	o.Gap += e.To - e.From
	o.model.next[p] = e.To
}

// adopt replaces the input topics that were read so far by others.
func (o *oracle) adopt(e entry) {
	for _, in := range e.Inputs {
		name := cmp.Or(in.NewTopic, in.Topic)
		for _, p := range in.Partitions {
			was, is := Partition{in.Topic, p.Partition}, Partition{name, p.Partition}
			if next, read := o.Next[was]; !read {
				continue
			} else if next != p.From {
				o.fault("ADOPT %d takes %v over at %d, and it was decided up to %d", e.Seq, was, p.From, o.Next[was])
			}
			for _, next := range []map[Partition]int64{o.Next, o.model.next} {
				delete(next, was)
				next[is] = p.Next
			}
		}
		if was := o.ids[in.Topic]; was != "" && was != in.TopicID {
			o.fault("ADOPT %d takes over topic %s with id %s, and its id is %s", e.Seq, in.Topic, in.TopicID, was)
		}
		delete(o.ids, in.Topic)
		o.ids[name] = in.NewID
	}
	o.model.turn("adopt", e.Seq)
}
