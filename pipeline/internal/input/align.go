package input

import (
	"math"

	"github.com/accrete-ml/accrete/ingest"
)

// Align makes s take the records of all inputs in the order of their times, which the function at
// returns. Records of one input stay in their order. As long as an input may have more records, the
// records of the others wait for them, so that a topic that is read from its beginning does not
// fall behind another. An input that is at its end holds up nothing.
//
// Which records are taken depends on which have arrived, as without Align: the model log records
// the outcome.
//
// Each input reads within its own part of the budget. If the inputs shared the budget, those that
// wait for another input could hold what that one needs to read on.
func (s *Source) Align(at func(topic string, r *ingest.Record) int64) {
	s.at = at
	for i := range s.feeds {
		s.feeds[i].reads = s.share(len(s.feeds))
	}
}

// share returns the budget of one of n inputs.
func (s *Source) share(n int) *ingest.Budget {
	if s.at == nil {
		return s.budget
	}
	return s.budget.Part(n)
}

// aligned is the variant of collect that takes records in the order of their times.
func (s *Source) aligned(took []Span, room int) (n int) {
	for n < room && s.left > 0 {
		first, next := -1, int64(math.MaxInt64) // the feed with the earliest record, and the time of the second
		for i := range s.feeds {
			f := &s.feeds[i]
			if !f.pending() {
				if f.behind() {
					return n // its records may be earlier
				}
				continue
			}
			switch {
			case first < 0:
				first = i
			case s.head(f) < s.head(&s.feeds[first]):
				next, first = s.head(&s.feeds[first]), i
			default:
				next = min(next, s.head(f))
			}
		}
		if first < 0 {
			return n
		}
		f := &s.feeds[first]
		run := min(1, len(f.fetch.Records))
		for run > 0 && run < min(room-n, len(f.fetch.Records)) && s.at(f.in.Topic, &f.fetch.Records[run]) < next {
			run++
		}
		n += s.from(f, &took[first], run)
		f.timed = false
	}
	return n
}

// behind reports whether the input of a feed with no record at hand has more records, as far as is
// known.
func (f *feed) behind() bool { return !f.idle && (f.fetch.Next == 0 || f.taken < f.fetch.End) }

// head returns the time of the next record of a feed, which must be pending.
func (s *Source) head(f *feed) int64 {
	if !f.timed {
		f.first, f.timed = math.MinInt64, true
		if len(f.fetch.Records) > 0 {
			f.first = s.at(f.in.Topic, &f.fetch.Records[0])
		}
	}
	return f.first
}
