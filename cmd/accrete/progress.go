package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// screen keeps one progress line below everything else that is written to a
// terminal.
type screen struct {
	mu     sync.Mutex
	w      io.Writer // the terminal
	width  func() int
	status string // the displayed line; empty for none
}

const eraseLine = "\r\x1b[K"

// over returns a writer to w that removes the progress line before it writes.
func (s *screen) over(w io.Writer) io.Writer { return overScreen{s, w} }

type overScreen struct {
	s *screen
	w io.Writer
}

func (o overScreen) Write(p []byte) (int, error) {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if o.s.status == "" {
		return o.w.Write(p)
	}
	io.WriteString(o.s.w, eraseLine)
	n, err := o.w.Write(p)
	io.WriteString(o.s.w, o.s.status)
	return n, err
}

// show displays text as the progress line.
func (s *screen) show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if most := s.width() - 1; utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:max(most, 0)])
	}
	s.status = text
	io.WriteString(s.w, eraseLine+text)
}

// erase removes the progress line.
func (s *screen) erase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status != "" {
		io.WriteString(s.w, eraseLine)
		s.status = ""
	}
}

// progress reports the progress of long work on standard error: on a terminal
// in one line that is rewritten, elsewhere in a new line each time. With JSON
// it writes an object per line to standard output.
type progress struct {
	e      *env
	asJSON bool
}

func (e *env) progress(asJSON bool) progress { return progress{e, asJSON} }

// update reports progress: text for a terminal or log, v as JSON.
func (p progress) update(text string, v any) {
	switch {
	case p.asJSON:
		json.NewEncoder(p.e.stdout).Encode(v)
	case p.e.terminal:
		p.e.screen.show(strings.ReplaceAll(text, "\n", " "))
	default:
		fmt.Fprintln(p.e.stderr, text)
	}
}

// done removes the progress line before the result is printed.
func (p progress) done() { p.e.screen.erase() }
