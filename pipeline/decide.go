package pipeline

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// decided is a BATCH: its records in their order, each decoded or rejected. It is a
// function of the records, the configuration and the state of the decoder before it,
// so that a replay gives the same BATCH.
type decided struct {
	ranges []modellog.Range
	marks  []uint64 // of each range, the digest of its last record; 0 without records
	items  []item
	batch  learner.Batch
	schema *decode.Schema // after the last record
	counts modellog.Counts
}

// item is one record of a BATCH.
type item struct {
	in     *input
	record *ingest.Record
	key    []byte // of its prediction
	err    error  // why it goes to quarantine; nil if it is the next row of the batch
}

// decider turns spans into BATCHes. It owns the decoder. Every decided record advances
// the state of the decoder, so the order matters.
type decider struct {
	decoder *decode.Decoder
	keyed   bool // the learner needs the keys of the rows
}

func newDecider(c Config, s *decode.Schema) (*decider, error) {
	d, err := decode.New(c.Decode, *s)
	if err != nil {
		return nil, err
	}
	return &decider{decoder: d, keyed: c.Learner.Keyed()}, nil
}

func (d *decider) decide(spans []span) *decided {
	b := &decided{}
	n := 0
	for _, sp := range spans {
		n += len(sp.records)
	}
	b.items = make([]item, 0, n)
	first := true
	for _, sp := range spans {
		digest, mark := xxhash.New(), uint64(0)
		for i := range sp.records {
			r := &sp.records[i]
			hashRecord(digest, r)
			if i == len(sp.records)-1 {
				mark = fingerprint(r)
			}
			it := item{in: sp.in, record: r}
			row, err := record.Decode(d.decoder, r)
			switch {
			case err != nil:
				it.err = err
				b.counts.Quarantined++
			default:
				it.key = row.Key
				if first {
					b.batch.Reset(len(row.X))
					b.batch.Grow(n)
					first = false
				}
				b.batch.Append(row.X, row.Label, row.Weight)
				b.batch.SetTypes(row.Types)
				if d.keyed {
					b.batch.SetKey(string(row.Key))
				}
				if row.Label.Task == learner.Auto {
					b.counts.Predicted++
				} else {
					b.counts.Learned++
				}
			}
			b.items = append(b.items, it)
		}
		b.counts.Skipped += sp.to - sp.from - int64(len(sp.records))
		b.marks = append(b.marks, mark)
		b.ranges = append(b.ranges, modellog.Range{
			Topic: sp.in.topic, TopicID: sp.in.id, Partition: sp.in.partition,
			From: sp.from, To: sp.to, Records: int64(len(sp.records)), Digest: digest.Sum64(),
		})
	}
	b.schema = d.decoder.Schema()
	return b
}

// bad returns what goes to quarantine, by partition.
func (d *decided) bad() (all []Bad) {
	for _, it := range d.items {
		if it.err == nil {
			continue
		}
		n := len(all) - 1
		if n < 0 || all[n].Topic != it.in.topic || all[n].Partition != it.in.partition {
			all, n = append(all, Bad{Topic: it.in.topic, Partition: it.in.partition, First: it.record.Offset, Err: it.err}), n+1
		}
		all[n].Last = it.record.Offset
		all[n].Records++
	}
	return all
}

func hashRecord(h *xxhash.Digest, r *ingest.Record) {
	var n [8]byte
	field := func(b []byte) {
		size := uint64(len(b)) + 1 // 0 stands for an absent field
		if b == nil {
			size = 0
		}
		binary.LittleEndian.PutUint64(n[:], size)
		h.Write(n[:])
		h.Write(b)
	}
	binary.LittleEndian.PutUint64(n[:], uint64(r.Offset))
	h.Write(n[:])
	field(r.Key)
	field(r.Value)
	for _, hd := range r.Headers {
		field([]byte(hd.Key))
		field(hd.Value)
	}
}
