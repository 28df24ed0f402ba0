package kafkalog

import "github.com/accrete-ml/accrete/snapshot/modellog"

// Size is the approximate size of the log in bytes: in total, and before each place where the log
// may be cut. The latter is a lower bound, the bytes up to the previous manifest.
type Size struct {
	Total    int64
	manifest int64 // Total as of the last manifest
	cuts     []cut
}

type cut struct{ offset, before int64 }

// begin adds the bytes of skipped offsets that lie before the part of the log that was read: as many
// for each as of the read ones.
func (s *Size) begin(skipped, read int64) {
	n := int64(float64(s.Total) * float64(skipped) / float64(read)) // the product may not fit into an int64
	s.Total += n
	s.manifest += n
	for i := range s.cuts {
		s.cuts[i].before += n
	}
}

func (s *Size) add(v modellog.Verdict) {
	s.Total += int64(v.Bytes)
	if m, ok := v.Record.(*modellog.Manifest); ok && v.Counts() {
		s.cuts = append(s.cuts, cut{m.Start.Offset, s.manifest})
		s.manifest = s.Total
	}
}

// Drop accounts for the deletion of all records before offset.
func (s *Size) Drop(offset int64) {
	for len(s.cuts) > 0 && s.cuts[0].offset <= offset {
		dead := s.cuts[0].before
		s.cuts = s.cuts[1:]
		s.Total -= dead
		s.manifest -= dead
		for i := range s.cuts {
			s.cuts[i].before -= dead
		}
	}
}
