package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/synth"
	"github.com/accrete-ml/accrete/test/oracle"
)

// world is one run of the test: a broker, a topic of examples, and the model
// whose learners are killed.
type world struct {
	options
	dir     string
	bin     string
	server  *server // the embedded broker; nil if another one was given
	client  *ingest.Client
	rng     *rand.Rand
	topic   string
	fed     int // examples in the topic
	values  [][]byte
	garbage map[int]bool // examples that belong in quarantine
	metrics string       // address of the metrics of the killed learners
	learner atomic.Int64 // process that was started last to learn
	began   int64        // timestamp of the first example
	file    string       // path of the examples as a file
	log     *modelLog
	answer  *predictions
	chunk   string // chunk size of a snapshot
	share   int    // examples fed for each fault other than the kills

	toScore string                    // topic that the scorers read
	scored  map[string]map[string]any // what the oracle wants scorers to publish, by record

	joins *lateStream                          // with late labels
	rows  map[oracle.Partition][]oracle.Record // of tables, as they were written
	forms forms                                // of predictions
}

// begin builds the program, starts the broker and creates the topic.
func begin(ctx context.Context, o options) (w *world, end func(), err error) {
	w = &world{options: o, chunk: "16KiB", began: time.Now().UnixMilli(), rng: rand.New(rand.NewPCG(o.seed, 9))}
	if o.refit > 0 {
		w.chunk = "1KiB" // the models are small
	}
	var ends []func()
	end = func() {
		for _, f := range slices.Backward(ends) {
			f()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	if w.dir, err = os.MkdirTemp("", "accrete-crash-"); err != nil {
		return w, end, err
	}
	if o.keep {
		o.log("keeping %s", w.dir)
	} else {
		ends = append(ends, func() { os.RemoveAll(w.dir) })
	}
	ends = append(ends, w.startForms())
	if err := w.build(ctx); err != nil {
		return w, end, err
	}
	if w.brokers == "" {
		w.server = w.newServer()
		if err := w.server.start(); err != nil {
			return w, end, err
		}
		ends = append(ends, func() { w.server.stop(syscall.SIGTERM) })
		w.brokers = w.server.address
	} else if o.outages+o.resets > 0 || o.soak > 0 {
		return w, end, errors.New("outages, resets and a soak need a broker of their own: the embedded one, or --kafka for outages")
	}
	if w.client, err = ingest.New(ingest.Config{Brokers: strings.Split(w.brokers, ","), Compression: ingest.Zstd}); err != nil {
		return w, end, err
	}
	ends = append(ends, w.client.Close)
	if w.metrics, err = freeAddress(); err != nil {
		return w, end, err
	}
	return w, end, w.prepare(ctx)
}

func (w *world) build(ctx context.Context) error {
	w.bin = filepath.Join(w.dir, "accrete")
	args := []string{"build", "-ldflags=-s -w", "-o", w.bin} // nothing debugs it
	var tags []string
	if w.planted != "" {
		tags = append(tags, "planted")
	}
	if w.options.failpoints {
		tags = append(tags, "failpoints")
	}
	args = append(args, "-tags", strings.Join(tags, ","))
	out, err := exec.CommandContext(ctx, "go", append(args, "github.com/accrete-ml/accrete/cmd/accrete")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// prepare draws the examples and creates their topic.
func (w *world) prepare(ctx context.Context) error {
	s := synth.Stream{Seed: 7}
	first, second := decisive(s)
	w.garbage = map[int]bool{}
	x := make([]float64, synth.Dim)
	var table, lines strings.Builder
	for i := range x {
		fmt.Fprintf(&table, "x%d,", i)
	}
	table.WriteString("y\n")
	for i := range w.examples {
		class := s.At(int64(i), x)
		v := []byte(`{"features":{`)
		for j, f := range x {
			text := strconv.FormatFloat(f, 'g', 5, 64)
			if j > 0 {
				v = append(v, ',')
			}
			v = fmt.Appendf(v, `"x%d":%s`, j, text)
			table.WriteString(text + ",")
		}
		name := string(rune('a' + class))
		table.WriteString(name + "\n")
		if v = fmt.Appendf(v, `},"label":"%s"}`, name); w.mixed {
			if v = mixed(x, name, i, w.examples); v == nil {
				v = garbage(i)
				w.garbage[i] = true
			}
		}
		if w.options.windows {
			v = payment(i, w.examples)
		}
		if w.tables {
			v = ordered(x, name, i)
		}
		if w.adopt {
			lead(x, first, second) // a model without one of them guesses
			v = deployed(x, name, i, w.examples)
		}
		w.values = append(w.values, v)
		if len(v) > 0 { // an empty line is no row
			lines.Write(append(slices.Clip(v), '\n'))
		}
	}
	w.file = filepath.Join(w.dir, "examples")
	text := table.String()
	if w.mixed {
		text = lines.String()
	}
	if err := os.WriteFile(w.file, []byte(text), 0o600); err != nil {
		return err
	}
	w.topic = fmt.Sprintf("crash-%d-%d", os.Getpid(), time.Now().UnixNano()%1e9)
	w.toScore = w.topic + "-asked"
	err := errors.Join(w.client.Create(ctx, w.topic, w.partitions, nil), w.client.Create(ctx, w.toScore, askedPartitions, nil))
	if w.tables {
		err = errors.Join(err, w.client.Create(ctx, w.customers(), customerPartitions, map[string]string{"cleanup.policy": "compact"}))
	}
	if err != nil || !w.options.late {
		return err
	}
	return w.prepareLate(ctx)
}

// feed appends examples to the topic, up to the given number, round-robin over
// its partitions.
func (w *world) feed(ctx context.Context, to int) error {
	to = min(to, w.examples)
	if w.tables {
		if err := w.feedRows(ctx, w.fed, to); err != nil {
			return err
		}
	}
	byPartition := make([][]ingest.Record, w.partitions)
	for i := w.fed; i < to; i++ {
		p := i % w.partitions
		byPartition[p] = append(byPartition[p], ingest.Record{Time: w.timeOf(i), Key: w.keyOf(i), Value: w.values[i]})
	}
	p := w.client.Producer()
	for i, rs := range byPartition {
		if err := p.Publish(ctx, w.topic, i, rs); err != nil {
			return err
		}
	}
	if w.fed = to; w.joins != nil {
		return w.feedLabels(ctx)
	}
	return nil
}

// timeOf returns the timestamp of an example.
func (w *world) timeOf(i int) int64 {
	if w.joins != nil {
		return w.eventTime(i)
	}
	if w.options.windows {
		return w.paymentTime(i)
	}
	return w.began + int64(i)
}

// keyOf returns the key of an example.
func (w *world) keyOf(i int) []byte {
	if w.options.windows {
		return paymentKey(i)
	}
	return strconv.AppendInt(nil, int64(i), 10)
}

// accrete runs a command to completion and returns the last line of its output.
func (w *world) accrete(ctx context.Context, args ...string) ([]byte, error) {
	line, _, err := w.command(ctx, args...)
	return line, err
}

// command does the same as accrete and also returns the state of the exited
// process.
func (w *world) command(ctx context.Context, args ...string) (line []byte, ended *os.ProcessState, err error) {
	out, ended, err := w.output(ctx, args...)
	if err != nil {
		return nil, nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return []byte(lines[len(lines)-1]), ended, nil
}

// output is command for commands that print more than one line.
func (w *world) output(ctx context.Context, args ...string) (out []byte, ended *os.ProcessState, err error) {
	cmd := exec.CommandContext(ctx, w.bin, args...)
	cmd.Env = append(os.Environ(), "ACCRETE_PLANTED="+w.planted)
	var stdout bytes.Buffer
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err = cmd.Start(); err == nil {
		w.started(cmd)
		err = cmd.Wait()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("accrete %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.Bytes(), cmd.ProcessState, nil
}
