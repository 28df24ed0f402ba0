package display

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Screen keeps one progress line below everything else that is written to a
// terminal.
type Screen struct {
	mu     sync.Mutex
	w      io.Writer // the terminal
	Width  func() int
	status string // the displayed line; empty for none
}

// NewScreen returns the screen of a terminal without a progress line.
func NewScreen(w io.Writer, width func() int) *Screen { return &Screen{w: w, Width: width} }

const EraseLine = "\r\x1b[K"

// Over returns a writer to w that removes the progress line before it writes.
func (s *Screen) Over(w io.Writer) io.Writer { return overScreen{s, w} }

type overScreen struct {
	s *Screen
	w io.Writer
}

func (o overScreen) Write(p []byte) (int, error) {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if o.s.status == "" {
		return o.w.Write(p)
	}
	io.WriteString(o.s.w, EraseLine)
	n, err := o.w.Write(p)
	io.WriteString(o.s.w, o.s.status)
	return n, err
}

// Show displays text as the progress line.
func (s *Screen) Show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if most := s.Width() - 1; utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:max(most, 0)])
	}
	s.status = text
	io.WriteString(s.w, EraseLine+text)
}

// Erase removes the progress line.
func (s *Screen) Erase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status != "" {
		io.WriteString(s.w, EraseLine)
		s.status = ""
	}
}
