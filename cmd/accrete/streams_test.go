package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
)

func TestOffTheTerminalLogsAreJSONWithoutColour(t *testing.T) {
	var out, err bytes.Buffer
	e := env.New(nil, nil, &out, &err)
	e.StartLog("info", "auto", false)
	e.Log.Debug().Msg("hidden")
	e.Log.Info().Str("topic", "a").Msg("ready")
	if !json.Valid(err.Bytes()) || strings.Contains(err.String(), "hidden") || strings.Contains(err.String(), "\x1b") {
		t.Errorf("logged %q", err.String())
	}
	if out.Len() > 0 {
		t.Errorf("standard output got %q", out.String())
	}
	err.Reset()
	e.StartLog("debug", "console", false)
	e.Log.Debug().Msg("shown")
	if !strings.Contains(err.String(), "DBG shown") || strings.Contains(err.String(), "\x1b") {
		t.Errorf("logged %q", err.String())
	}
}

func TestProgressOffTheTerminalIsLines(t *testing.T) {
	var out, err bytes.Buffer
	e := env.New(nil, nil, &out, &err)
	p := e.Progress(false)
	p.Update("1 of 2", nil)
	p.Update("2 of 2", nil)
	p.Done()
	if out.String() != "" || err.String() != "1 of 2\n2 of 2\n" {
		t.Errorf("printed %q, said %q", out.String(), err.String())
	}
	err.Reset()
	p = e.Progress(true)
	p.Update("1 of 2", map[string]int{"done": 1})
	if out.String() != "{\"done\":1}\n" || err.String() != "" {
		t.Errorf("printed %q, said %q", out.String(), err.String())
	}
}

// shown returns the lines that a terminal displays after the bytes, the last
// one without its newline.
func shown(bytes string) []string {
	lines := []string{""}
	for len(bytes) > 0 {
		switch {
		case strings.HasPrefix(bytes, display.EraseLine):
			lines[len(lines)-1] = ""
			bytes = bytes[len(display.EraseLine):]
		case bytes[0] == '\n':
			lines = append(lines, "")
			bytes = bytes[1:]
		default:
			lines[len(lines)-1] += bytes[:1]
			bytes = bytes[1:]
		}
	}
	return lines
}

func TestProgressOnATerminalStaysBelowTheRest(t *testing.T) {
	var tty bytes.Buffer
	e := env.New(nil, nil, &tty, &tty)
	e.Terminal = true
	e.Screen.Width = func() int { return 20 }
	e.StartLog("info", "json", false)
	p := e.Progress(false)
	p.Update("1 of 3", nil)
	e.Print(false, "a result", nil)
	p.Update("2 of 3, and a text longer than the terminal", nil)
	e.Print(false, "another", nil)
	want := []string{"a result", "another", "2 of 3, and a text "}
	if got := shown(tty.String()); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("shows %q, want %q", got, want)
	}
	p.Done()
	if got := shown(tty.String()); got[2] != "" {
		t.Errorf("still shows %q", got[2])
	}
}
