package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Skip advances h past lost input.
func (h *History) Skip(g *modellog.Gap) *Publication {
	p := h.position(g.Topic, g.TopicID, g.Partition)
	p.Next, p.Fingerprint = g.To, 0 // the record before g.To is lost
	h.Seq, h.Chain = g.Seq, g.Chain
	return &Publication{Seq: g.Seq, Chain: g.Chain}
}

// Turned applies a ROLLBACK, ADOPT or UPGRADE to h. It returns nil for all other
// records.
func (h *History) Turned(r modellog.Record) *Publication {
	switch r := r.(type) {
	case *modellog.Rollback:
		return h.turn(r.Type(), r.Seq, r.Chain)
	case *modellog.Adopt:
		h.Adopt(r)
		return h.turn(r.Type(), r.Seq, r.Chain)
	case *modellog.Upgrade:
		return h.turn(r.Type(), r.Seq, r.Chain)
	}
	return nil
}

// Adopt replaces the positions in the old topics by those in the new ones.
func (h *History) Adopt(a *modellog.Adopt) {
	for _, in := range a.Inputs {
		for _, to := range in.Partitions {
			for i := range h.Reached {
				p := &h.Reached[i]
				if p.Topic == in.Topic && p.TopicID == in.TopicID && p.Partition == to.Partition {
					*p = snapshot.Position{Topic: cmp.Or(in.NewTopic, in.Topic), TopicID: in.NewID, Partition: to.Partition, Next: to.Next, Fingerprint: to.Fingerprint}
				}
			}
		}
	}
	slices.SortFunc(h.Reached, snapshot.Position.Compare)
}

// turn mixes a ROLLBACK, ADOPT or UPGRADE into the lineage, so that it differs from
// the lineage of the same rows learned without that record.
func (h *History) turn(kind string, seq int64, chain snapshot.Hash) *Publication {
	b := append([]byte("accrete "+kind+" 1\x00"), h.rows[:]...)
	h.rows = sha256.Sum256(binary.LittleEndian.AppendUint64(b, uint64(seq)))
	h.Lineage, h.encoder = h.rows, nil
	h.Seq, h.Chain = seq, chain
	return &Publication{Seq: seq, Chain: chain}
}
