package watch

import (
	"time"

	"github.com/rs/zerolog"
)

// repeatAfter is how often a failure that repeats is logged.
const repeatAfter = 10 * time.Second

// Failing logs failures that are retried many times a second: each when it first
// occurs, and again every ten seconds with the number of times in between. It is for
// one goroutine at a time.
type Failing struct {
	of map[string]*failure // by text
}

type failure struct {
	at    time.Time // when it was last logged
	times int       // since then
}

// Log takes in a failure at the time now.
func (f *Failing) Log(log zerolog.Logger, err error, now time.Time) {
	text := err.Error()
	was := f.of[text]
	switch {
	case was == nil:
		const most = 64 // texts can have a time in them
		if len(f.of) >= most || f.of == nil {
			f.of = map[string]*failure{}
		}
		f.of[text] = &failure{at: now}
		log.Warn().Err(err).Msg("temporary failure, retrying")
	case now.Sub(was.at) < repeatAfter:
		was.times++
	default:
		log.Warn().Err(err).Int("times", was.times+1).Msg("temporary failure, retrying")
		*was = failure{at: now}
	}
}
