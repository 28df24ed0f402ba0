package env

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/pipeline/event"
)

// Progress reports the progress of long work on standard error: on a terminal
// in one line that is rewritten, elsewhere in a new line each time. With JSON
// it writes an object per line to standard output.
type Progress struct {
	e      *Env
	asJSON bool
}

// Progress returns the progress of a command.
func (e *Env) Progress(asJSON bool) Progress { return Progress{e, asJSON} }

// Update reports progress: text for a terminal or log, v as JSON.
func (p Progress) Update(text string, v any) {
	switch {
	case p.asJSON:
		json.NewEncoder(p.e.Stdout).Encode(v)
	case p.e.Terminal:
		p.e.Screen.Show(strings.ReplaceAll(text, "\n", " "))
	default:
		fmt.Fprintln(p.e.Stderr, text)
	}
}

// EverySecond returns a callback that logs retries. For other events it reports the progress that
// text returns, unless that is empty, at most once a second.
func (p Progress) EverySecond(text func(event.Event) string) func(event.Event) {
	last := time.Now()
	return func(ev event.Event) {
		p.e.WarnOfRetries(ev)
		if time.Since(last) < time.Second {
			return
		}
		if s := text(ev); s != "" {
			last = time.Now()
			p.Update(s, nil)
		}
	}
}

// Done removes the progress line before the result is printed.
func (p Progress) Done() { p.e.Screen.Erase() }

// WarnOfRetries logs retries and ignores all other events.
func (e *Env) WarnOfRetries(ev event.Event) {
	if ev, ok := ev.(event.Retrying); ok {
		e.Log.Warn().Err(ev.Err).Msg("temporary failure, retrying")
	}
}

// WarnOfRetry logs an error after which a command tries again.
func (e *Env) WarnOfRetry(err error) {
	e.Log.Warn().Err(err).Msg("temporary failure, retrying")
}
