package pipeline

import (
	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
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
	in     *input.Partition
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

func (d *decider) decide(spans []input.Span) *decided {
	b := &decided{}
	n := 0
	for _, sp := range spans {
		n += len(sp.Records)
	}
	b.items = make([]item, 0, n)
	first := true
	for _, sp := range spans {
		digest, mark := xxhash.New(), uint64(0)
		for i := range sp.Records {
			r := &sp.Records[i]
			input.HashRecord(digest, r)
			if i == len(sp.Records)-1 {
				mark = input.Fingerprint(r)
			}
			it := item{in: sp.In, record: r}
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
		b.counts.Skipped += sp.To - sp.From - int64(len(sp.Records))
		b.marks = append(b.marks, mark)
		b.ranges = append(b.ranges, modellog.Range{
			Topic: sp.In.Topic, TopicID: sp.In.ID, Partition: sp.In.Partition,
			From: sp.From, To: sp.To, Records: int64(len(sp.Records)), Digest: digest.Sum64(),
		})
	}
	b.schema = d.decoder.Schema()
	return b
}

// bad returns what goes to quarantine, by partition.
func (d *decided) bad() (all []event.Bad) {
	for _, it := range d.items {
		if it.err == nil {
			continue
		}
		n := len(all) - 1
		if n < 0 || all[n].Topic != it.in.Topic || all[n].Partition != it.in.Partition {
			all, n = append(all, event.Bad{Topic: it.in.Topic, Partition: it.in.Partition, First: it.record.Offset, Err: it.err}), n+1
		}
		all[n].Last = it.record.Offset
		all[n].Records++
	}
	return all
}
