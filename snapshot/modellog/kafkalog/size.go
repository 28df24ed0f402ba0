package kafkalog

import "github.com/accrete-ml/accrete/snapshot/modellog"

// Size is about how many bytes the log has, and how many of them lie before
// each place where it may be cut: at least those up to the manifest before.
type Size struct {
	Total    int64
	manifest int64 // Total as of the last manifest
	cuts     []cut
}

type cut struct{ offset, before int64 }

// begin takes in how many bytes lie before what was read.
func (s *Size) begin(n int64) {
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

// Drop accounts for a log that begins at offset now.
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
