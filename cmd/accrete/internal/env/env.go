// Package env is the environment of a command: its streams, its log, its progress and the
// flags that commands share.
package env

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
)

// Env is the environment of a command.
type Env struct {
	Stdin    io.Reader
	Stdout   io.Writer // results only
	Stderr   io.Writer // logs and progress
	environ  []string
	Log      zerolog.Logger // to stderr; disabled until the flags are parsed
	JSONLog  bool           // every line on stderr is JSON
	Terminal bool           // stderr is a terminal that can rewrite a line

	Interactive bool // stdout is such a terminal as well

	color  bool            // stderr shows colour
	Screen *display.Screen // stdout and stderr are written through it
}

// New returns an environment with the log disabled.
func New(environ []string, stdin io.Reader, stdout, stderr io.Writer) *Env {
	terminal := isTerminal(stderr) && Lookup(environ, "TERM") != "dumb"
	s := display.NewScreen(stderr, func() int { return width(stderr) })
	return &Env{
		Stdin:    stdin,
		Stdout:   s.Over(stdout),
		Stderr:   s.Over(stderr),
		environ:  environ,
		Log:      zerolog.Nop(),
		Terminal: terminal,

		Interactive: terminal && isTerminal(stdout),

		color:  terminal && Lookup(environ, "NO_COLOR") == "",
		Screen: s,
	}
}

// Lookup returns the value of a variable, or "" if environ does not have it.
func Lookup(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Variable returns the value of an environment variable, or "" if it is not set.
func (e *Env) Variable(name string) string { return Lookup(e.environ, name) }

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func width(w any) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// StartLog enables the log. level and format are those of --log-level and --log-format. With the
// format auto the error that ends a command is text; that of a service, which logs until it is
// stopped, has the format of its log.
func (e *Env) StartLog(level, format string, service bool) {
	w := e.Stderr
	console := format == "console" || format == "auto" && e.Terminal
	if console {
		w = zerolog.ConsoleWriter{Out: e.Stderr, NoColor: !e.color, TimeFormat: time.TimeOnly}
	}
	e.JSONLog = format == "json" || service && !console
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.InfoLevel // kong has validated the level
	}
	e.Log = zerolog.New(w).Level(l).With().Timestamp().Logger()
}

// Print writes one result, as text or as one line of JSON.
func (e *Env) Print(asJSON bool, text string, v any) error {
	if !asJSON {
		_, err := fmt.Fprintln(e.Stdout, text)
		return err
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = e.Stdout.Write(append(line, '\n'))
	return err
}
