package sim

import (
	"maps"
	"slices"
)

// leadership is the first offset of a leader epoch.
type leadership struct {
	epoch int32
	start int64
}

const (
	fencedLeaderEpoch  = 74
	unknownLeaderEpoch = 75
)

// led returns the error for a request that names the epoch of another leader; -1
// names none.
func (p *part) led(epoch int32) int16 {
	switch {
	case epoch >= 0 && epoch < p.epoch:
		return fencedLeaderEpoch
	case epoch > p.epoch:
		return unknownLeaderEpoch
	}
	return 0
}

// elect makes another broker the leader of p. Unless the election is clean, that
// broker lacks the last batches, whose number is lost.
func (p *part) elect(lost int) {
	p.cut(lost)
	if p.leaders == nil {
		p.leaders = []leadership{{0, 0}}
	}
	p.epoch++
	p.leaders = append(p.leaders, leadership{p.epoch, p.end})
}

// cut removes the last n batches of p, as a broker loses what it has not synced.
func (p *part) cut(n int) {
	if n == 0 {
		return
	}
	keep := len(p.batches) - n
	p.end = p.batches[keep].base
	p.batches = slices.Clip(p.batches[:keep])
	p.writers = map[int64]*writer{}
	p.open = maps.Clone(p.open)
	maps.DeleteFunc(p.open, func(_, from int64) bool { return from >= p.end })
	p.aborted = slices.DeleteFunc(slices.Clone(p.aborted), func(a aborted) bool { return a.last >= p.end })
	p.leaders = slices.DeleteFunc(slices.Clone(p.leaders), func(l leadership) bool { return l.start >= p.end && l.epoch > 0 })
}

// endOf returns the newest epoch that is not after the given one, and the end of its
// records.
func (p *part) endOf(epoch int32) (int32, int64) {
	if epoch == p.epoch {
		return epoch, p.end
	}
	found, end := int32(-1), int64(-1)
	for i, l := range p.leaders {
		if l.epoch > epoch {
			break
		}
		if found, end = l.epoch, p.end; i+1 < len(p.leaders) {
			end = p.leaders[i+1].start
		}
	}
	return found, end
}

// election elects new leaders of a random partition of any topic. Nothing is lost.
func (w *world) election() {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	names := slices.Sorted(maps.Keys(w.c.topics))
	name := names[w.more.IntN(len(names))]
	parts := w.c.topics[name].parts
	i := w.more.IntN(len(parts))
	parts[i].elect(0)
	w.stats.Elections++
	w.note("%s/%d has a new leader, epoch %d", name, i, parts[i].epoch)
}
