package watch

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"
)

// repeatAfter is the interval at which a failure that repeats is logged.
const repeatAfter = 10 * time.Second

// Part returns the part of the condition kafka that a partition is; empty without a topic.
func Part(topic string, partition int) string {
	if topic == "" {
		return ""
	}
	return fmt.Sprintf("%s/%d", topic, partition)
}

// Failing logs failures that are retried many times a second. Each is logged when it first occurs,
// and then every ten seconds with the number of repetitions. It must not be used concurrently.
type Failing struct {
	of map[string]*failure // by text
}

type failure struct {
	at    time.Time // when it was last logged
	times int       // since then
}

// Log counts a failure at the time now, and logs it if it is due.
func (f *Failing) Log(log zerolog.Logger, err error, now time.Time) {
	text := err.Error()
	was := f.of[text]
	switch {
	case was == nil:
		const most = 64 // a limit, because texts may contain a time
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
