package windows

// insert returns the slot of a new key. If there is no room, it evicts the key that was seen least
// recently. Recency is by the order of the rows, because times can be wrong.
func (t *table) insert(key uint64, c *Counts) int32 {
	var i int32
	if len(t.slots) >= t.group.MaxKeys {
		i = t.last
		t.unlink(i)
		delete(t.index, t.slots[i].key)
		c.Evicted++
	} else {
		i = int32(len(t.slots))
		t.slots = append(t.slots, slot{})
		t.cells = append(t.cells, t.scratch...)
		t.sets = append(t.sets, t.spare...)
	}
	e := t.entry(i)
	e.begin(key)
	clearCells(e.cells)
	t.index[key] = i
	t.link(i)
	return i
}

// touch marks the key of slot i as the most recently seen.
func (t *table) touch(i int32) {
	if t.first != i {
		t.unlink(i)
		t.link(i)
	}
}

func (t *table) link(i int32) {
	t.slots[i].prev, t.slots[i].next = -1, t.first
	if t.first >= 0 {
		t.slots[t.first].prev = i
	} else {
		t.last = i
	}
	t.first = i
}

func (t *table) unlink(i int32) {
	s := &t.slots[i]
	if s.prev >= 0 {
		t.slots[s.prev].next = s.next
	} else {
		t.first = s.next
	}
	if s.next >= 0 {
		t.slots[s.next].prev = s.prev
	} else {
		t.last = s.prev
	}
}
