package requests

import (
	"slices"

	"github.com/accrete-ml/accrete/ingest"
)

// take returns all pending requests, and marks them as taken.
func (w *Writer) take() []*entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	batch := w.pending
	w.pending = nil
	for _, e := range batch {
		e.taken = true
	}
	return batch
}

type part struct {
	index   int
	records []ingest.Record
}

// parts splits the records of a batch by partition.
func (w *Writer) parts(batch []*entry) []part {
	all := make([]part, w.partitions)
	for _, e := range batch {
		for _, r := range e.records {
			p := &all[partitionOf(r.Key, w.partitions)]
			p.records = append(p.records, r)
		}
	}
	for i := range all {
		all[i].index = i
	}
	return slices.DeleteFunc(all, func(p part) bool { return len(p.records) == 0 })
}

func (w *Writer) finish(batch []*entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range batch {
		w.bytes -= e.bytes
		close(e.done)
	}
}
