package oracle

import "maps"

// remember stores the state after seq, if a manifest or a ROLLBACK needs it for
// comparison.
func (o *oracle) remember(seq int64) {
	if _, named := o.states[seq]; named {
		o.states[seq] = state{o.model.hash(), o.model.lineage}
		o.scoresAfter(seq)
	}
	if _, named := o.kept[seq]; named {
		o.kept[seq] = kept{
			model: o.model.copy(), next: maps.Clone(o.Next), ids: maps.Clone(o.ids),
			counts: [...]int64{o.Consumed, o.Learned, o.Predicted, o.Quarantined, o.Skipped, o.Gap},
		}
	}
}

// kept is the oracle's state at a seq.
type kept struct {
	model  model
	next   map[Partition]int64
	ids    map[string]string
	counts [6]int64
}

// rollback returns to e.ToSeq: later decisions are no longer part of the
// history.
func (o *oracle) rollback(e entry) {
	if o.Rollbacks++; o.model.windows != nil {
		o.fault("windows are not followed across a ROLLBACK")
	}
	k := o.kept[e.ToSeq]
	o.model, o.Next, o.ids = k.model.copy(), maps.Clone(k.next), maps.Clone(k.ids)
	o.Consumed, o.Learned, o.Predicted, o.Quarantined, o.Skipped, o.Gap = k.counts[0], k.counts[1], k.counts[2], k.counts[3], k.counts[4], k.counts[5]
	o.taken = append(o.taken, taken{e.ToSeq + 1, e.Seq})
	maps.DeleteFunc(o.points, func(seq int64, _ point) bool { return seq > e.ToSeq })
	maps.DeleteFunc(o.Decided, func(_ string, seq int64) bool { return seq > e.ToSeq })
	for a, x := range o.want {
		if a.seq > e.ToSeq {
			o.gone[a] = x
			delete(o.want, a)
		}
	}
	o.takeBack(e.Seq)
	o.model.turn("rollback", e.Seq)
}

// isTaken reports whether a seq was revoked.
func (o *oracle) isTaken(seq int64) bool {
	for _, t := range o.taken {
		if t.from <= seq && seq < t.to {
			return true
		}
	}
	return false
}
