package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/segmentio/kafka-go"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/metric"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// With this variable set the test binary runs as accrete, so that tests can
// start it as a process.
const beProgram = "RUN_AS_ACCRETE"

func TestMain(m *testing.M) {
	if os.Getenv(beProgram) != "" {
		main()
		return
	}
	kafkatest.Prepare(4)
	os.Exit(m.Run())
}

// program returns a command that runs accrete as a process with its own
// directory and environment.
func program(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{beProgram + "=1", "HOME=" + t.TempDir()}
	return cmd
}

// call runs the program inside the test process.
func call(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, environ, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

const least = `model: fraud
kafka:
  bootstrap.servers: localhost:9092
input:
  topics: [payments.labelled]
  label: is_fraud
`

// inDir changes to a new directory that contains a file config.yaml.
func inDir(t *testing.T, text string) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("config.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestExitCodesOfTheProcess(t *testing.T) {
	good := filepath.Join(t.TempDir(), "config.yaml")
	os.WriteFile(good, []byte(least), 0o600)
	for _, test := range []struct {
		args []string
		want int
		line string // all of standard error
	}{
		{[]string{"version"}, 0, ""},
		{[]string{"lint", "-c", good}, 0, ""},
		{[]string{"lint", "--help"}, 0, ""},
		{[]string{"lint", "-c", "none.yaml"}, 78, "accrete: none.yaml has 1 problem\n"},
		{[]string{"lint", "-c", good, "--set", "learner.seed=x"}, 78, "accrete: " + good + " has 1 problem\n"},
		{[]string{"versoin"}, 2, "accrete: unexpected argument versoin, did you mean \"version\"?; see accrete --help\n"},
		{[]string{"lint", "--jsn"}, 2, "accrete: unknown flag --jsn, did you mean \"--json\"?; see accrete lint --help\n"},
		{[]string{"rebuild", "--without", "partition=-1"}, 2, "accrete: rebuild: --without \"partition=-1\": want the number of a partition, for example 0; see accrete rebuild --help\n"},
		{[]string{"rebuild", "--without", "key=1", "--as", "a/b"}, 2, "accrete: rebuild: --as: \"a/b\" is not a valid name for a model: use letters, digits, '.', '_' and '-'; see accrete rebuild --help\n"},
		{[]string{"rebuild", "--without", "key=1&before=noon"}, 2, "accrete: rebuild: --without \"key=1&before=noon\": want a time, for example 2006-01-02T15:04:05Z; see accrete rebuild --help\n"},
		{[]string{"prove", "-c", good, "17"}, 2, "accrete: prove: \"17\": want the ce_id of a prediction, TOPIC-PARTITION-OFFSET; see accrete prove --help\n"},
		{[]string{"feed", "-c", good, "--topic", "my topic", "-"}, 2, "accrete: feed: --topic: \"my topic\" is not a valid topic name: use letters, digits, '.', '_' and '-', at most 249 characters; see accrete feed --help\n"},
		{[]string{"broker", "--memory", "--listen", "127.0.0.1:0", "--topics", "my topic"}, 2, "accrete: --topics my topic: \"my topic\" is not a valid topic name: use letters, digits, '.', '_' and '-', at most 249 characters\n"},
		{[]string{"version", "--log-level", "loud"}, 2, "accrete: --log-level must be one of \"debug\",\"info\",\"warn\",\"error\" but got \"loud\"; see accrete version --help\n"},
	} {
		cmd := program(t, test.args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != test.want || stderr.String() != test.line {
			t.Errorf("%v: exit code %d (%v), want %d; said %q, want %q", test.args, code, err, test.want, stderr.String(), test.line)
		}
	}
}

func TestErrorsHaveExitCodes(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, exit.Done},
		{errors.New("any"), exit.Failed},
		{exit.Usage("no"), exit.Misused},
		{exit.TryAgain(errors.New("broker down")), exit.Later},
		{fmt.Errorf("while: %w", exit.TryAgain(errors.New("broker down"))), exit.Later},
		{exit.Refuse(errors.New("other kernel")), exit.Refused},
		{fmt.Errorf("while: %w", config.ErrInvalid), exit.Refused},
		{config.Problems{{Text: "bad"}}, exit.Refused},
		{context.Canceled, exit.Failed},
		{fmt.Errorf("%w: x", pipeline.ErrChanged), exit.Refused},
		{fmt.Errorf("%w: x", ingest.ErrUnreachable), exit.Later},
		{fmt.Errorf("%w: x", ingest.ErrUnknownTopic), exit.Refused},
		{fmt.Errorf("%w: x", ingest.ErrDenied), exit.Refused},
		{fmt.Errorf("%w: x", ingest.ErrRejected), exit.Refused},
		{learner.Config{Sampling: "sorf"}.Check([]string{"a", "b"}), exit.Refused},
		{fmt.Errorf("%w: x", metric.ErrColumns), exit.Refused},
		{kafka.NotLeaderForPartition, exit.Later},
	} {
		if got := exit.Code(test.err); got != test.want {
			t.Errorf("exitCode(%v) = %d, want %d", test.err, got, test.want)
		}
	}
	if got := exit.OneLine(errors.Join(errors.New("a"), errors.New("b"))); got != "accrete: a; b" {
		t.Errorf("two errors are said as %q", got)
	}
}

// What other programs call a command leads to it.
func TestNamesThatOthersUseLeadToCommands(t *testing.T) {
	for name, here := range otherNames {
		code, _, stderr := call(t, nil, name, "rows.csv")
		if want := "accrete: there is no command " + name + ": use accrete " + here + "\n"; code != exit.Misused || stderr != want {
			t.Errorf("exit code %d, %q, want %q", code, stderr, want)
		}
		if words := strings.Fields(here); !slices.ContainsFunc(parsed(t).Children, func(n *kong.Node) bool { return n.Name == words[0] }) {
			t.Errorf("there is no command %s", words[0])
		}
	}
}

func TestWithoutACommandTheHelpIsShown(t *testing.T) {
	code, stdout, stderr := call(t, nil)
	if code != exit.Misused || stdout != "" || !strings.Contains(stderr, "Commands:") || !strings.HasSuffix(stderr, "accrete: missing command\n") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
