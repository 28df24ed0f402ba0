package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

var (
	brokerKills  = flag.Int("broker-kills", 2, "how often the broker is killed under load (about 3 s each; the documented figure is 20)")
	learnerKills = flag.Int("learner-kills", 6, "how often a transactional learner is killed (about 0.5 s each; the documented figure is 30)")
)

// fixedBroker is a broker that restarts at the same address: the embedded
// broker as a process or, where ACCRETE_TEST_KAFKA names .ci/kafka.sh, the
// Apache Kafka in KAFKA_DIR.
type fixedBroker struct {
	t      *testing.T
	addr   string
	dir    string
	cmd    *exec.Cmd
	script string
}

func newFixedBroker(t *testing.T) *fixedBroker {
	t.Helper()
	if script := os.Getenv("ACCRETE_TEST_KAFKA"); script != "" {
		b := &fixedBroker{t: t, script: script}
		b.addr = b.kafka("addr")
		return b
	}
	return &fixedBroker{t: t, addr: kafkatest.Address(t), dir: filepath.Join(t.TempDir(), "broker")}
}

func (b *fixedBroker) kafka(command string) string {
	b.t.Helper()
	out, err := exec.Command(b.script, command).Output()
	if err != nil {
		b.t.Fatalf("%s %s: %v", b.script, command, err)
	}
	return strings.TrimSpace(string(out))
}

func (b *fixedBroker) start() {
	b.t.Helper()
	if b.script != "" {
		b.kafka("start")
		return
	}
	b.cmd, _ = startBroker(b.t, "--listen", b.addr, "--dir", b.dir)
}

func (b *fixedBroker) kill() {
	if b.script != "" {
		b.kafka("kill")
		return
	}
	b.cmd.Process.Kill()
	b.cmd.Wait()
}

// ring returns an example. Its class depends on the distance from the origin.
func ring(rng *rand.Rand) []byte {
	x, y := rng.NormFloat64(), rng.NormFloat64()
	return fmt.Appendf(nil, `{"features":{"x":%v,"y":%v},"label":"%v"}`, x, y, x*x+y*y > 1.4)
}

// learnerProcess is a running accrete learn.
type learnerProcess struct {
	*exec.Cmd
	stderr output
}

// output collects what a process writes. It can be read while the process runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// tail returns the last n lines.
func (o *output) tail(n int) string {
	lines := strings.Split(strings.TrimSpace(o.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// smallModel is the configuration of a model that is learned quickly.
const smallModel = `learner: {kernel: "gaussian:1.5", max_features: 64, mixture: off}`

// learnerOf writes a configuration, of a small model unless more has a learner, and
// returns a function that starts a learner with it.
func learnerOf(t *testing.T, brokers, model, topic string, more ...string) func(args ...string) *learnerProcess {
	if !slices.ContainsFunc(more, func(s string) bool { return strings.HasPrefix(s, "learner:") }) {
		more = append(more, smallModel)
	}
	path := filepath.Join(t.TempDir(), "accrete.yaml")
	text := fmt.Sprintf("model: %s\nkafka: {bootstrap.servers: %q}\ninput: {topics: [%s], label: label, batch: {size: 100}}\nsnapshot: {every: 200ms}\nhttp: {listen: \"off\"}\n%s\n",
		model, brokers, topic, strings.Join(more, "\n"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *learnerProcess {
		t.Helper()
		p := &learnerProcess{Cmd: program(t, append(append([]string{}, args...), "-c", path)...)}
		p.Stderr = &p.stderr
		if p.Stdout == nil {
			p.Stdout = new(bytes.Buffer)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Process.Kill() })
		return p
	}
}

// report decodes the JSON object that a process printed at its end.
func (p *learnerProcess) report(t *testing.T, to any) {
	t.Helper()
	if err := p.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr.String())
	}
	out := p.Stdout.(*bytes.Buffer).Bytes()
	if err := json.Unmarshal(out, to); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
}

// batches counts the BATCHes of a model log from an offset on, and returns the
// log's end offset.
func batches(ctx context.Context, c *ingest.Client, log string, from int64) (n int, next int64, err error) {
	got, err := c.Fetcher(log, 0).Poll(ctx, from)
	if err != nil {
		return 0, from, err
	}
	for _, r := range got.Records {
		if string(r.Key) == "batch" {
			n++
		}
	}
	return n, got.Next, nil
}

// TestBrokerKilledUnderLoad kills the broker repeatedly while a topic is
// written and learned. After each restart of the broker a new BATCH must appear
// within 3 s, and at the end no record is missing.
func TestBrokerKilledUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("about 3 s for each of -broker-kills")
	}
	t.Parallel()
	b := newFixedBroker(t)
	b.start()
	client := kafkatest.ClientOf(t, b.addr, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(*brokerKills)*30*time.Second)
	defer cancel()
	in := kafkatest.Name("in")
	if err := client.Create(ctx, in, 2, nil); err != nil {
		t.Fatal(err)
	}
	start := learnerOf(t, b.addr, in+".m", in)
	learner := start("learn", "--json")

	feeding, stop := context.WithCancel(ctx)
	var fed atomic.Int64
	var g sync.WaitGroup
	for p := range 2 {
		g.Go(func() {
			rng := rand.New(rand.NewPCG(5, uint64(p)))
			out := client.Producer()
			for feeding.Err() == nil {
				rs := make([]ingest.Record, 20)
				for i := range rs {
					rs[i] = ingest.Record{Time: time.Now().UnixMilli(), Value: ring(rng)}
				}
				if err := out.Publish(ctx, in, p, rs); err != nil {
					t.Error(err)
					return
				}
				fed.Add(int64(len(rs)))
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	waitForBatch := func() time.Duration {
		watch, next := kafkatest.NewStopwatch(), int64(0)
		for ctx.Err() == nil {
			if _, end, err := client.Offsets(ctx, in+".m.log"); err == nil {
				next = end[0]
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		for ctx.Err() == nil {
			n, to, err := batches(ctx, client, in+".m.log", next)
			if next = to; n > 0 {
				return watch.Elapsed()
			} else if err != nil {
				time.Sleep(5 * time.Millisecond)
			}
		}
		t.Fatalf("nothing was learned any more\n%s", learner.stderr.String())
		return 0
	}
	waitForBatch()
	rng, worst := rand.New(rand.NewPCG(6, 7)), time.Duration(0)
	for i := range *brokerKills {
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
		b.kill()
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond) // random length of the outage
		b.start()
		took := waitForBatch()
		t.Logf("kill %d: learning again %v after the broker's return", i+1, took)
		if worst = max(worst, took); took > 3*time.Second {
			t.Errorf("kill %d: learning again only %v after the broker's return, at %v\n%s", i+1, took, time.Now().Format(time.TimeOnly), learner.stderr.tail(40))
		}
	}
	stop()
	g.Wait()
	learner.Process.Signal(syscall.SIGTERM)
	if err := learner.Wait(); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, learner.stderr.String())
	}
	var last watch.Report
	start("learn", "--to-end", "--json").report(t, &last)
	// A killed broker may have lost the sequence numbers of requests that it
	// has acknowledged, so the feeder can store a record twice.
	stored := len(kafkatest.Read(t, client, in))
	if last.Examples != int64(stored) || int64(stored) < fed.Load() {
		t.Errorf("%d examples are learned, the topic has %d, %d were acked", last.Examples, stored, fed.Load())
	}
	answered := map[string]bool{}
	for _, r := range kafkatest.Read(t, client, in+".m.predictions") {
		answered[kafkatest.Header(r, "ce_id")] = true
	}
	if len(answered) != stored {
		t.Errorf("%d examples have a prediction, the topic has %d", len(answered), stored)
	}
	var verified struct{ Compared, Divergent int }
	start("verify", "--json").report(t, &verified)
	if verified.Compared == 0 || verified.Divergent != 0 {
		t.Errorf("verify: %+v", verified)
	}
	t.Logf("%d examples, %d kills, worst return %v", fed.Load(), *brokerKills, worst)
}

// TestSIGTERM checks that on SIGTERM a learner drains and exits with 0, and
// without a broker exits with 75, both within 25 s.
func TestSIGTERM(t *testing.T) {
	if testing.Short() {
		t.Skip("21 s: that is how long a learner waits for a broker that is gone")
	}
	t.Parallel()
	b := newFixedBroker(t)
	b.start()
	client := kafkatest.ClientOf(t, b.addr, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	var values []string
	for range 5000 {
		values = append(values, string(ring(rng)))
	}
	kafkatest.Fill(t, client, "in", 1, values)
	run := func(name string, gone bool) {
		p := learnerOf(t, b.addr, name, "in")("learn", "--json")
		for next := int64(0); ; {
			n, to, err := batches(t.Context(), client, name+".log", next)
			if err != nil && !ingest.Temporary(err) {
				t.Fatal(err)
			}
			if next = to; n > 0 {
				break
			}
		}
		want := 0
		if gone {
			b.kill()
			want = exit.Later
		}
		watch := kafkatest.NewStopwatch()
		p.Process.Signal(syscall.SIGTERM)
		p.Wait()
		if took := watch.Elapsed(); p.ProcessState.ExitCode() != want || took > 25*time.Second {
			t.Errorf("broker gone: %v: exit code %d after %v, want %d\n%s", gone, p.ProcessState.ExitCode(), took, want, p.stderr.String())
		}
	}
	run("with", false)
	run("without", true)
}

// TestTransactionalDeliveryOverKills checks that an independent read-committed
// consumer sees each prediction exactly once while the real program is killed
// with kill -9.
func TestTransactionalDeliveryOverKills(t *testing.T) {
	if testing.Short() {
		t.Skip("about 0.5 s for each of -learner-kills")
	}
	t.Parallel()
	addr := os.Getenv("ACCRETE_TEST_BROKERS")
	if addr == "" {
		b := newFixedBroker(t)
		b.start()
		addr = b.addr
	}
	client := kafkatest.ClientOf(t, addr, nil)
	in := kafkatest.Name("in")
	rng := rand.New(rand.NewPCG(8, 9))
	each, fed := 2000, 0
	feed := func() {
		var values []string
		for range each {
			values = append(values, string(ring(rng)))
		}
		kafkatest.Fill(t, client, in, 2, values)
		fed += each
	}
	start := learnerOf(t, addr, in+".m", in, "output: {delivery: transactional}", "learner: {max_features: 512, mixture: off}") // large enough to be killed while it learns
	feed()
	for range *learnerKills {
		p := start("learn", "--json")
		time.Sleep(100*time.Millisecond + time.Duration(rng.IntN(500))*time.Millisecond)
		p.Process.Kill()
		p.Wait()
		if ws := p.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() {
			t.Fatalf("it ended by itself: %v\n%s", p.ProcessState, p.stderr.String())
		}
		feed()
	}
	var last watch.Report
	start("learn", "--to-end", "--json").report(t, &last)

	consumer, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(addr, ",")...), kgo.ConsumeTopics(in+".m.predictions"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	seen, twice := map[string]bool{}, 0
	for ended := false; !ended; {
		wait, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		consumer.PollFetches(wait).EachRecord(func(r *kgo.Record) {
			for _, h := range r.Headers {
				if h.Key == "ce_id" {
					if seen[string(h.Value)] {
						twice++
					}
					seen[string(h.Value)] = true
				}
			}
		})
		ended = wait.Err() != nil
		cancel()
	}
	if twice > 0 || len(seen) != fed || last.Examples != int64(fed) {
		t.Errorf("of %d records %d are learned and %d have a prediction; %d predictions are there again", fed, last.Examples, len(seen), twice)
	}
}
