package files

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/quarantine"
)

// Skipped counts the rows of files that were skipped, by reason.
type Skipped struct {
	Kept int64 // rows that were not skipped, for Warn

	total   int64
	reasons map[Reason]*Reason // the keys have a file and a reason only
}

// Reason is a reason for which rows of a file were skipped. Values in which these rows differ are
// replaced with "…", as in accrete quarantine list.
type Reason struct {
	File    string `json:"file"`
	Reason  string `json:"reason"`
	Count   int64  `json:"count"`
	Line    int    `json:"line"`    // the first line
	Example string `json:"example"` // the reason of that line
}

// reasonsAtMost bounds the memory of Skipped.
const reasonsAtMost = 1000

// otherReasons stands for all reasons beyond reasonsAtMost.
const otherReasons = "other reasons"

// Add counts the row that err describes. It reports whether err is about a row.
func (s *Skipped) Add(err error) bool {
	var line *decode.LineError
	if !errors.As(err, &line) {
		return false
	}
	s.total++
	key := Reason{File: filepath.Base(line.File), Reason: quarantine.Kind(line.Err.Error())}
	if s.reasons[key] == nil && len(s.reasons) >= reasonsAtMost {
		key.Reason = otherReasons
	}
	r := s.reasons[key]
	if r == nil {
		if s.reasons == nil {
			s.reasons = map[Reason]*Reason{}
		}
		r = &Reason{File: key.File, Reason: key.Reason, Line: line.Line, Example: line.Err.Error()}
		s.reasons[key] = r
	}
	r.Count++
	if line.Line < r.Line { // rows may be shuffled
		r.Line, r.Example = line.Line, line.Err.Error()
	}
	return true
}

// Total returns the number of rows that were skipped.
func (s *Skipped) Total() int64 { return s.total }

// Reasons returns the reasons, the most frequent first. Their counts add up to Total.
func (s *Skipped) Reasons() []Reason {
	all := make([]Reason, 0, len(s.reasons))
	for _, r := range slices.SortedFunc(maps.Values(s.reasons), func(a, b *Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Reason, b.Reason))
	}) {
		all = append(all, *r)
	}
	return all
}

// String describes a reason in a line.
func (r Reason) String() string {
	return fmt.Sprintf("%s of %s, first in line %d: %s", display.Count(r.Count, "row"), r.File, r.Line, r.Reason)
}

// Warn logs the number of rows that were skipped, by reason, if there are any.
func (s *Skipped) Warn(e *env.Env) {
	if s.total == 0 {
		return
	}
	for _, r := range s.Reasons() {
		e.Log.Warn().Str("file", r.File).Int64("rows", r.Count).Int("line", r.Line).Str("example", r.Example).Msg("skipped: " + r.Reason)
	}
	e.Log.Warn().Int64("read", s.Kept+s.total).Int64("kept", s.Kept).Int64("skipped", s.total).Msg("unreadable rows are left out")
}
