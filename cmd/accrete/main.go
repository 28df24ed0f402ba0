// Command accrete learns kernel models from Kafka streams and serves
// predictions. See accrete --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/bench"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/compare"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/contract"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/draft"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/fit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/history"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/lint"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/metric"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/predict"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/process"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/quarantine"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/reference"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/tail"
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/papers/dsg"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner"
)

// commands is the command line, in the order of --help. To add a command, add a
// field here and its type, which implements command, in a file or package.
type commands struct {
	LogLevel  string `enum:"debug,info,warn,error" default:"info" env:"ACCRETE_LOG_LEVEL" placeholder:"LEVEL" help:"Minimum log level: debug, info, warn or error."`
	LogFormat string `enum:"auto,console,json" default:"auto" env:"ACCRETE_LOG_FORMAT" placeholder:"FORMAT" help:"Log format on standard error: console, json, or auto (console on a terminal, json elsewhere)."`

	Demo       demoCommand        `cmd:"" help:"Run a broker, a stream of examples, a learner and a scorer in one process."`
	Init       draft.Command      `cmd:"" help:"Write a first configuration, from the records of a topic."`
	Lint       lint.Command       `cmd:"" help:"Check a configuration and show the origin of each value."`
	Learn      learnCommand       `cmd:"" help:"Learn a model from Kafka, predicting each record first."`
	Score      scoreCommand       `cmd:"" help:"Predict topics with the newest snapshot of a model."`
	Top        topCommand         `cmd:"" help:"Show several learners and scorers in a terminal."`
	Tail       tail.Command       `cmd:"" help:"Show the predictions of a model as they are written."`
	Feed       feedCommand        `cmd:"" help:"Write a file to an input topic."`
	Fit        fit.Command        `cmd:"" help:"Learn a file in one pass, without Kafka."`
	Predict    predict.Command    `cmd:"" help:"Predict the rows of a file with a model."`
	Bench      bench.Command      `cmd:"" help:"Compare all algorithms on a folder of data sets."`
	Refit      history.Refit      `cmd:"" help:"Solve for a model on its most recent records, with a certificate."`
	Compare    compare.Command    `cmd:"" help:"Compare the inputs of two files, or find changes in one."`
	Metric     metric.Command     `cmd:"" help:"Learn a metric of the inputs, or one per key."`
	Verify     history.Verify     `cmd:"" help:"Replay the history of a model and compare it with every snapshot."`
	Prove      history.Prove      `cmd:"" help:"Compute a published prediction again, to the bit."`
	Rebuild    history.Rebuild    `cmd:"" help:"Learn the history again without some records, and compare the predictions."`
	Inspect    history.Inspect    `cmd:"" help:"Describe a snapshot or a model log."`
	Resume     history.Resume     `cmd:"" help:"Resume a learner that has paused because of invalid input."`
	Quarantine quarantine.Command `cmd:"" help:"List, show and replay the records that could not be used."`
	Hold       history.Hold       `cmd:"" help:"Keep the model that scorers serve."`
	Promote    history.Promote    `cmd:"" help:"Serve the newest snapshot, and follow later ones."`
	Pin        history.Pin        `cmd:"" help:"Serve one snapshot of the model log."`
	Rollback   history.Rollback   `cmd:"" help:"Roll a model back to an earlier point of its history."`
	Adopt      history.Adopt      `cmd:"" help:"Continue a model on input topics that were recreated or mirrored."`
	Export     history.Export     `cmd:"" help:"Write a model with its history to a file."`
	Import     history.Import     `cmd:"" help:"Write an exported model to an empty model log."`
	Contract   contract.Command   `cmd:"" help:"Print the schemas of what a model reads and writes."`
	Broker     brokerCommand      `cmd:"" help:"Run a Kafka broker on this machine for trials."`
	Doctor     doctorCommand      `cmd:"" help:"Collect what a bug report needs, without secrets."`
	Version    versionCommand     `cmd:"" help:"Print the version of the program and its platform."`
	Completion completionCommand  `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Complete   completeCommand    `cmd:"" hidden:"" help:"Print the words that complete a command line."`
	Docs       docsCommand        `cmd:"" hidden:"" help:"Write a generated page of the documentation."`
}

// command is implemented by every command. Its exported fields are its flags
// and arguments, tagged for kong. One that writes files has a method Files as well, by which
// dispatch checks that it overwrites none that it reads.
type command interface {
	// Run executes the command. It returns soon after ctx is done, with nil if
	// it was meant to run until then. Package exit maps its errors to exit
	// codes.
	Run(ctx context.Context, e *env.Env) error

	// Examples returns lines that can be pasted into a shell. They are printed
	// at the end of the help.
	Examples() string
}

const description = `A streaming kernel learner for Kafka: every record is predicted, then learned, and recovery after a crash is bit-identical.`

func main() {
	process.KeepPrivate()
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	go heedSecond(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// stopSignals returns the signals that stop the process. A terminal that closes sends SIGHUP, which
// remains ignored under nohup.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// sameStop is how soon after a signal to stop another one is taken for the same: timeout(1) sends
// two, as do a shell and the kernel when a terminal closes.
const sameStop = 200 * time.Millisecond

// heedSecond calls stop some time after the first signal, so that a second one terminates the process
// at once.
func heedSecond(ctx context.Context, stop func()) {
	<-ctx.Done()
	time.Sleep(sameStop)
	stop()
}

// run is the whole program except for signal handling. It returns the exit
// code.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := env.New(environ, stdin, stdout, stderr)
	err := vec.Select(env.Lookup(environ, "ACCRETE_ISA"))
	if err != nil {
		err = exit.Usage("ACCRETE_ISA: %w", err)
	} else {
		err = dispatch(ctx, args, e)
	}
	e.Screen.Erase()
	if err == nil {
		return exit.Done
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = errors.New("interrupted")
	}
	if code := exit.Code(err); e.JSONLog {
		e.Log.Error().Err(err).Int("code", code).Msg("ended with an error")
	} else {
		fmt.Fprintln(e.Stderr, exit.OneLine(err))
	}
	return exit.Code(err)
}

func dispatch(ctx context.Context, args []string, e *env.Env) error {
	var line commands
	parser, helped, err := newParser(&line, e)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		parser.Stdout = e.Stderr
		if _, err := parser.Parse([]string{"--help"}); err != nil && !*helped {
			return err
		}
		return exit.Usage("missing command")
	}
	if args[0] == "help" { // no command: accrete help COMMAND is accrete COMMAND --help
		args = append(slices.Clone(args[1:]), "--help")
	}
	parsed, err := parser.Parse(withNegatives(args))
	if *helped {
		return nil
	}
	if err != nil {
		var p *kong.ParseError
		if errors.As(err, &p) && p.Context != nil && p.Context.Selected() != nil {
			return exit.Usage("%w; see accrete %s --help", err, p.Context.Selected().Path())
		}
		if here := otherNames[args[0]]; here != "" {
			return exit.Usage("there is no command %s: use accrete %s", args[0], here)
		}
		return exit.Usage("%w; see accrete --help", err)
	}
	if err := finite(parsed.Flags()); err != nil {
		return err
	}
	c := selected(parsed.Selected())
	e.StartLog(line.LogLevel, line.LogFormat, isService(c))
	if isService(c) {
		signal.Ignore(syscall.SIGPIPE) // of a log that is no longer read: the last snapshot matters more
	}
	if named, ok := c.(interface{ Files() env.Files }); ok {
		if err := named.Files().Check(e); err != nil {
			return err
		}
	}
	if p, ok := c.(interface{ Profiled(func() error) error }); ok {
		return p.Profiled(func() error { return c.Run(ctx, e) })
	}
	return c.Run(ctx, e)
}

// isService reports whether c is run by a supervisor, with its log as the only output.
func isService(c command) bool {
	switch c.(type) {
	case *learnCommand, *scoreCommand:
		return true
	}
	return false
}

// otherNames are what other programs call commands of this one.
var otherNames = map[string]string{
	"train": "fit FILE, or accrete learn for a topic", "evaluate": "fit FILE --test FILE", "test": "fit FILE --test FILE",
	"explain": "predict FILE --explain", "serve": "score",
}

// withNegatives joins a flag and the negative number after it, --lags and -1 to --lags=-1: the parser
// would take the number for a short flag.
func withNegatives(args []string) (joined []string) {
	for i, a := range args {
		if a == "--" {
			return append(joined, args[i:]...)
		}
		n := len(joined) - 1
		_, err := strconv.ParseFloat(a, 64)
		if err == nil && a[0] == '-' && n >= 0 && strings.HasPrefix(joined[n], "--") && !strings.Contains(joined[n], "=") {
			joined[n] += "=" + a
		} else {
			joined = append(joined, a)
		}
	}
	return joined
}

// finite rejects NaN and infinity, which are values of no flag.
func finite(flags []*kong.Flag) error {
	for _, f := range flags {
		if x, is := f.Target.Interface().(float64); is && (math.IsNaN(x) || math.IsInf(x, 0)) {
			return exit.Usage("--%s is %v: want a finite number", f.Name, x)
		}
	}
	return nil
}

// newParser returns kong's parser. helped becomes true once it has printed
// help; any error it returns after that is ignored.
func newParser(line *commands, e *env.Env) (parser *kong.Kong, helped *bool, err error) {
	helped = new(bool)
	parser, err = kong.New(line,
		kong.Name("accrete"),
		kong.Description(description),
		kong.Writers(e.Stdout, e.Stderr),
		kong.Exit(func(int) { *helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Help(reference.PrintHelp),
		registries(),
	)
	return parser, helped, err
}

// registries returns the values of flags that are not listed in their tags.
func registries() kong.Vars {
	var algorithms []string
	for _, a := range learner.Algorithms() {
		algorithms = append(algorithms, a.Name)
	}
	return kong.Vars{
		"algorithms": strings.Join(algorithms, ","), "algorithm": algorithms[0],
		"directions": strings.Join(learner.Directions(), ","),
		"averages":   strings.Join(learner.Averages(), ","),
		"presets":    strings.Join(learner.PresetNames(), ","),
		"caps":       strings.Join(learner.Caps(), ","),
		"reactions":  strings.Join(learner.Reactions(), ","),
		"sections":   strings.Join(dsg.Sections, ","),
		"samplings":  strings.Join(features.SamplingNames(), ","),
	}
}

func selected(n *kong.Node) command { return n.Target.Addr().Interface().(command) }
