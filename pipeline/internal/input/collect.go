package input

// batchBytes is the size in bytes at which a BATCH ends, even if it has few records.
const batchBytes = 8 << 20

// collect moves up to room records from the feeds to took and returns their number.
// Feeds with pending records get equal shares.
func (s *Source) collect(took []Span, room int) (n int) {
	if s.at != nil {
		return s.aligned(took, room)
	}
	for room > n && s.left > 0 {
		full := 0
		for i := range s.feeds {
			if s.feeds[i].pending() {
				full++
			}
		}
		if full == 0 {
			return n
		}
		share := max(1, (room-n)/full)
		for k := range s.feeds {
			i := (s.first + k) % len(s.feeds)
			if f := &s.feeds[i]; f.pending() && room > n && s.left > 0 {
				n += s.from(f, &took[i], min(share, room-n))
			}
		}
		s.first = (s.first + 1) % len(s.feeds)
	}
	return n
}

// from moves up to most records of f to sp, and stops after the record that fills the BATCH. It
// copies the records, because each of them refers to the memory of the whole response.
func (s *Source) from(f *feed, sp *Span, most int) int {
	if sp.In == nil {
		sp.In, sp.From = f.in, f.taken
	}
	n := 0
	for n < min(most, len(f.fetch.Records)) && s.left > 0 {
		s.left -= MemoryOf(&f.fetch.Records[n])
		n++
	}
	sp.Records = AppendCopies(sp.Records, f.fetch.Records[:n])
	f.fetch.Records = f.fetch.Records[n:]
	if len(f.fetch.Records) == 0 {
		f.take(f.fetch.Next) // past offsets whose records a read_committed reader does not get
		s.usedUp(f)
	} else {
		f.take(sp.Records[len(sp.Records)-1].Offset + 1)
	}
	sp.To = f.taken
	return n
}

// usedUp releases the response of f and lets its fetcher continue.
func (s *Source) usedUp(f *feed) {
	f.reads.Release(f.fetch.Held)
	f.fetch.Records, f.fetch.Held = nil, 0
	f.more <- struct{}{}
}
