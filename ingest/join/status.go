package join

// Counts holds totals since the model was created.
type Counts struct {
	Matched       int64 `json:"matched"`       // labels that were joined with their features
	TimedOut      int64 `json:"timed_out"`     // features without a label within the TTL
	Evicted       int64 `json:"evicted"`       // features that were dropped because too many waited
	Late          int64 `json:"late"`          // labels that came after the TTL
	Duplicate     int64 `json:"duplicate"`     // labels of a key that already has the same label
	Contradicting int64 `json:"contradicting"` // labels of a key that already has another label
	Unmatched     int64 `json:"unmatched"`     // labels that found no features within the TTL
	Repeated      int64 `json:"repeated"`      // features of a key that already has features
}

// Status describes the entries of a Join.
type Status struct {
	Counts
	Pending int   `json:"pending"` // features that wait
	Early   int   `json:"early"`   // labels that wait
	Done    int   `json:"done"`    // keys that are remembered as done
	Oldest  int64 `json:"oldest"`  // age of the features that expire first, in milliseconds
	Bytes   int64 `json:"bytes"`   // of memory, approximately
}

// Status returns the totals and the current entries.
func (j *Join) Status() Status {
	s := Status{Counts: j.counts, Pending: len(j.queues[waiting]), Early: len(j.queues[early]), Done: len(j.queues[done])}
	if s.Pending > 0 {
		first := j.queues[waiting][0].event
		s.Oldest = max(0, j.clock-first.Time)
		s.Bytes = int64(s.Pending) * 8 * int64(len(first.Kept))
	}
	s.Bytes += j.bytes + EntryBytes*int64(len(j.entries))
	return s
}

// bytes returns the size of the keys and values of an entry, without Event.Kept.
func (e *entry) bytes() int64 {
	n := len(e.key) + 8*len(e.label.More)
	if e.event != nil {
		n += len(e.event.Key) + 8*len(e.event.X)
	}
	return int64(n)
}

// EntryBytes is the memory of an entry in addition to its keys and values: two structures, and
// its slots in the map and in a queue.
const EntryBytes = 400
