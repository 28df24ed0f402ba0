package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// env is the environment of a command.
type env struct {
	stdin    io.Reader
	stdout   io.Writer // results only
	stderr   io.Writer // logs and progress
	environ  []string
	log      zerolog.Logger  // to stderr; disabled until the flags are parsed
	terminal bool            // stderr is a terminal that can rewrite a line
	color    bool            // stderr shows colour
	screen   *display.Screen // stdout and stderr are written through it
}

func newEnv(environ []string, stdin io.Reader, stdout, stderr io.Writer) *env {
	terminal := isTerminal(stderr) && lookup(environ, "TERM") != "dumb"
	s := display.NewScreen(stderr, func() int { return width(stderr) })
	return &env{
		stdin:    stdin,
		stdout:   s.Over(stdout),
		stderr:   s.Over(stderr),
		environ:  environ,
		log:      zerolog.Nop(),
		terminal: terminal,
		color:    terminal && lookup(environ, "NO_COLOR") == "",
		screen:   s,
	}
}

func lookup(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

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

func (e *env) startLog(level, format string) {
	w := e.stderr
	if format == "console" || format == "auto" && e.terminal {
		w = zerolog.ConsoleWriter{Out: e.stderr, NoColor: !e.color, TimeFormat: time.TimeOnly}
	}
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		l = zerolog.InfoLevel // kong has validated the level
	}
	e.log = zerolog.New(w).Level(l).With().Timestamp().Logger()
}

// print writes one result, as text or as one line of JSON.
func (e *env) print(asJSON bool, text string, v any) error {
	if !asJSON {
		_, err := fmt.Fprintln(e.stdout, text)
		return err
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(append(line, '\n'))
	return err
}

// jsonFlag is embedded in commands with machine-readable output.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print one JSON object per line."`
}

// configFlags are embedded in commands that read a configuration.
type configFlags struct {
	Config string   `short:"c" placeholder:"FILE" env:"ACCRETE_CONFIG" help:"Configuration file; accrete lint --reference prints one with every option."`
	Set    []string `sep:"none" placeholder:"KEY=VALUE" help:"Override an option, for example --set input.topics=a,b. Repeatable."`
}

// load loads the effective configuration and logs its warnings.
func (f configFlags) load(e *env) (*config.Config, error) {
	c, err := config.Load(f.sources(e))
	if err != nil && f.Config == "" {
		return nil, fmt.Errorf("no configuration file (-c FILE): %w", err)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range c.Warnings() {
		e.log.Warn().Str("at", w.Where).Msg(w.Text)
	}
	return c, nil
}

func (f configFlags) sources(e *env) config.Sources {
	environ := slices.DeleteFunc(slices.Clone(e.environ), func(entry string) bool { // flags read these
		return strings.HasPrefix(entry, "ACCRETE_LOG_") || strings.HasPrefix(entry, "ACCRETE_CONFIG=") || strings.HasPrefix(entry, "ACCRETE_ISA=")
	})
	return config.Sources{File: f.Config, Environ: environ, Set: f.Set}
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
		p.e.screen.Show(strings.ReplaceAll(text, "\n", " "))
	default:
		fmt.Fprintln(p.e.stderr, text)
	}
}

// everySecond returns a callback that logs retries and reports the progress that text
// finds in other events, once a second at most.
func (p progress) everySecond(text func(event.Event) string) func(event.Event) {
	last := time.Now()
	return func(ev event.Event) {
		p.e.warnOfRetries(ev)
		if time.Since(last) < time.Second {
			return
		}
		if s := text(ev); s != "" {
			last = time.Now()
			p.update(s, nil)
		}
	}
}

// done removes the progress line before the result is printed.
func (p progress) done() { p.e.screen.Erase() }
