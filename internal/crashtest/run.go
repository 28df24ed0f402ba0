package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/synth"
)

// world is one run of the test: a broker, a topic of examples, and the model
// that is killed.
type world struct {
	options
	dir    string
	bin    string
	client *ingest.Client
	rng    *rand.Rand
	topic  string
	fed    int // examples in the topic
	values [][]byte
	began  int64  // time of the first example
	csv    string // the examples as a file
	log    *modelLog
	answer *predictions
}

const learned = 1250 // labelled rows after which the warm-up is over

func run(ctx context.Context, o options) (s Summary, err error) {
	w := &world{options: o, began: time.Now().UnixMilli(), rng: rand.New(rand.NewPCG(o.seed, 9))}
	w.dir, err = os.MkdirTemp("", "accrete-crash-")
	if err != nil {
		return s, err
	}
	if o.keep {
		o.log("keeping %s", w.dir)
	} else {
		defer os.RemoveAll(w.dir)
	}
	if err := w.build(ctx); err != nil {
		return s, err
	}
	stop, err := w.broker(ctx)
	if err != nil {
		return s, err
	}
	defer stop()
	w.client, err = ingest.New(ingest.Config{Brokers: strings.Split(w.brokers, ",")})
	if err != nil {
		return s, err
	}
	defer w.client.Close()
	if err := w.prepare(ctx); err != nil {
		return s, err
	}
	if err := w.kill(ctx, &s); err != nil {
		return s, err
	}
	o.log("killed %d times; learning to the end", s.Kills)
	if err := w.feed(ctx, o.examples); err != nil {
		return s, err
	}
	if _, err := w.accrete(ctx, "learn", "-c", w.config("crash"), "--to-end", "--json"); err != nil {
		return s, err
	}
	return s, w.check(ctx, &s)
}

func (w *world) build(ctx context.Context) error {
	w.bin = filepath.Join(w.dir, "accrete")
	args := []string{"build", "-o", w.bin}
	if w.planted != "" {
		args = append(args, "-tags", "planted")
	}
	out, err := exec.CommandContext(ctx, "go", append(args, "github.com/accrete-ml/accrete/cmd/accrete")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// broker starts the embedded broker, unless one was given.
func (w *world) broker(ctx context.Context) (stop func(), err error) {
	if w.brokers != "" {
		return func() {}, nil
	}
	cmd := exec.CommandContext(ctx, w.bin, "broker", "--listen", "127.0.0.1:0", "--dir", filepath.Join(w.dir, "broker"), "--json")
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var at struct{ Address string }
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		cmd.Process.Kill()
		return nil, fmt.Errorf("broker: %w", errors.Join(err, cmd.Wait()))
	}
	go io.Copy(io.Discard, out)
	w.brokers = at.Address
	return func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	}, nil
}

// prepare draws the examples and creates their topic.
func (w *world) prepare(ctx context.Context) error {
	s := synth.Stream{Seed: 7}
	x := make([]float64, synth.Dim)
	var file strings.Builder
	for i := range x {
		fmt.Fprintf(&file, "x%d,", i)
	}
	file.WriteString("y\n")
	for i := range w.examples {
		class := s.At(int64(i), x)
		v := []byte(`{"features":{`)
		for j, f := range x {
			text := strconv.FormatFloat(f, 'g', -1, 64)
			if j > 0 {
				v = append(v, ',')
			}
			v = fmt.Appendf(v, `"x%d":%s`, j, text)
			file.WriteString(text + ",")
		}
		name := string(rune('a' + class))
		w.values = append(w.values, fmt.Appendf(v, `},"label":"%s"}`, name))
		file.WriteString(name + "\n")
	}
	w.csv = filepath.Join(w.dir, "examples.csv")
	if err := os.WriteFile(w.csv, []byte(file.String()), 0o600); err != nil {
		return err
	}
	w.topic = fmt.Sprintf("crash-%d-%d", os.Getpid(), time.Now().UnixNano()%1e9)
	return w.client.Create(ctx, w.topic, w.partitions, nil)
}

// feed puts the examples up to the given one into the topic, dealing them out
// to its partitions in turn.
func (w *world) feed(ctx context.Context, to int) error {
	to = min(to, w.examples)
	byPartition := make([][]ingest.Record, w.partitions)
	for i := w.fed; i < to; i++ {
		p := i % w.partitions
		byPartition[p] = append(byPartition[p], ingest.Record{Time: w.began + int64(i), Key: strconv.AppendInt(nil, int64(i), 10), Value: w.values[i]})
	}
	p := w.client.Producer()
	for i, rs := range byPartition {
		if err := p.Publish(ctx, w.topic, i, rs); err != nil {
			return err
		}
	}
	w.fed = to
	return nil
}

// config writes the configuration of a model of this run and returns its path.
// Snapshots are frequent and in small pieces, so that kills hit them.
func (w *world) config(model string) string {
	path := filepath.Join(w.dir, model+".yaml")
	text := fmt.Sprintf(`model: %s
kafka: {bootstrap.servers: "%s"}
input: {topics: [%s], label: label, batch: {size: 100, linger: 2ms}}
snapshot: {every: 200ms, chunk: 2KiB}
http: {listen: "off"}
`, w.model(model), w.brokers, w.topic)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return path
}

func (w *world) model(name string) string { return w.topic + "-" + name }

// accrete runs a command to its end and returns the last line that it printed.
func (w *world) accrete(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, w.bin, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("accrete %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return []byte(lines[len(lines)-1]), nil
}

// kill starts the learner and kills it, again and again, while the topic grows.
func (w *world) kill(ctx context.Context, s *Summary) error {
	path := w.config("crash")
	w.log, w.answer = newModelLog(w.client, w.model("crash")), newPredictions(w.client, w.model("crash"))
	early := max(6, w.kills/10) // the first kills go to the warm-up
	for i := range w.kills {
		to := learned * (i + 1) / (early + 1)
		if i >= early {
			to = learned + (w.examples-learned)*(i-early+1)/(w.kills-early+1)
		}
		if err := w.feed(ctx, to); err != nil {
			return err
		}
		if err := w.killOnce(ctx, path, i); err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
		s.Kills++
		if err := w.classify(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// killOnce starts a learner and kills it: after a random while, at a CHUNK, or
// at a BATCH, in turn.
func (w *world) killOnce(ctx context.Context, path string, i int) error {
	cmd := exec.CommandContext(ctx, w.bin, "learn", "-c", path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Stdout = io.Discard
	if err := cmd.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		cmd.Wait()
		close(gone)
	}()
	watch, cancel := context.WithTimeout(ctx, 3*time.Second)
	switch i % 4 {
	case 0, 1:
		pause(watch, time.Duration(w.rng.IntN(400))*time.Millisecond)
	case 2:
		w.log.await(watch, isChunk)
		pause(watch, time.Duration(w.rng.IntN(8))*time.Millisecond)
	case 3:
		for range 1 + w.rng.IntN(5) {
			w.log.await(watch, isBatch)
		}
	}
	cancel()
	cmd.Process.Kill()
	<-gone
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() || ws.Signal() != syscall.SIGKILL {
		return fmt.Errorf("the learner was not killed, it ended by itself (%v):\n%s", cmd.ProcessState, stderr.String())
	}
	return ctx.Err()
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
