package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/address"
	"github.com/accrete-ml/accrete/test/crash/network"
	"github.com/accrete-ml/accrete/test/crash/usage"
)

// Soak is the result of a soak test.
type Soak struct {
	Seconds   float64         `json:"seconds"`
	Examples  int64           `json:"examples"`
	Rate      float64         `json:"examples_per_second"` // fed
	Learned   float64         `json:"learned_per_second"`  // measured until all of them were learned
	CatchUp   float64         `json:"seconds_to_catch_up"` // after the end of the feed
	Faults    int             `json:"faults"`
	Quarters  [4]usage.Sample `json:"quarters"` // medians of each quarter of the run
	Most      usage.Sample    `json:"most"`     // maxima, for example while a learner catches up after a fault
	Compared  int             `json:"compared"` // state hashes that the offline replay reproduced
	Divergent int             `json:"divergences"`

	StateHash  string `json:"state_hash"`
	ReplayHash string `json:"replay_hash"`
}

func (s Soak) print() {
	fmt.Printf("%d examples in %.0f s, %.0f a second, and %d faults; all learned %.1f s later\n", s.Examples, s.Seconds, s.Rate, s.Faults, s.CatchUp)
	row := func(what string, m usage.Sample) {
		fmt.Printf("%-12s %8.1f MB resident %8.1f MB of heap %5d descriptors %5d goroutines\n", what, float64(m.RSS)/1e6, float64(m.Heap)/1e6, m.Files, m.Goroutines)
	}
	for i, q := range s.Quarters {
		row(fmt.Sprintf("quarter %d", i+1), q)
	}
	row("most", s.Most)
	fmt.Printf("%d state hashes computed again, %d divergences; the last one is %s, that of the replay %s\n", s.Compared, s.Divergent, s.StateHash, s.ReplayHash)
}

const faultEvery = 30 * time.Second

// soak feeds one learner at a steady rate for a long time, with a fault every
// half minute, and samples its resource use.
func (w *world) soak(ctx context.Context) (s Soak, err error) {
	bad, err := network.NewProxy(w.brokers, w.seed)
	if err != nil {
		return s, err
	}
	defer bad.Close()
	path, listen, err := w.soakConfig(bad.Address())
	if err != nil {
		return s, err
	}
	// Predictions are counted and then deleted, so that the broker, which reads
	// all its data when it starts, can be killed after 20 minutes too.
	answers := w.model("soak") + ".predictions"
	if err := w.client.Create(ctx, answers, 1, map[string]string{"retention.ms": "-1", "segment.bytes": "16777216"}); err != nil {
		return s, err
	}
	p, err := w.begin(nil, "learn", "-c", path)
	if err != nil {
		return s, err
	}
	defer p.end()
	samples, err := w.load(ctx, p, bad, listen, &s)
	if err != nil {
		return s, err
	}
	end := time.Now()
	if err := w.drained(ctx, s.Examples, p); err != nil {
		return s, err
	}
	s.CatchUp = time.Since(end).Seconds()
	s.Learned = float64(s.Examples) / (s.Seconds + s.CatchUp)
	p.signal(syscall.SIGTERM)
	if code, err := p.ended(time.Minute); err != nil || code != 0 {
		return s, fmt.Errorf("the learner ended with %d, %w:\n%s", code, err, tail(p.stderr.String()))
	}
	if len(samples) < 4 {
		return s, errors.New("too short to say anything")
	}
	for i := range s.Quarters {
		s.Quarters[i] = usage.Quantile(samples[i*len(samples)/4:(i+1)*len(samples)/4], .5)
	}
	s.Most = usage.Quantile(samples, 1)
	err = errors.Join(usage.Flat(samples, s.Faults), w.replay(ctx, path, &s))
	return s, err
}

// soakConfig writes the configuration of the learner, and returns its path and the
// address of its metrics.
func (w *world) soakConfig(broker string) (path, listen string, err error) {
	if listen, err = freeAddress(); err != nil {
		return "", "", err
	}
	path = filepath.Join(w.dir, "soak.yaml")
	text := fmt.Sprintf(`model: %s
kafka: {bootstrap.servers: "%s"}
input: {topics: [%s], label: label}
learner: {max_features: 256, mixture: off}
snapshot: {every: 5s}
http: {listen: "%s"}
`, w.model("soak"), broker, w.topic, listen)
	return path, listen, os.WriteFile(path, []byte(text), 0o600)
}

// freeAddress returns an address at which nothing listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(address.OwnHost(), "0"))
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// load feeds the learner, injects the faults and takes a sample every second.
func (w *world) load(ctx context.Context, p *process, bad *network.Proxy, listen string, s *Soak) (samples []usage.Sample, err error) {
	answers := w.model("soak") + ".predictions"
	start := time.Now()
	fault := start.Add(faultEvery)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	out := w.client.Producer()
	for n := 0; time.Since(start) < w.options.soak; n++ {
		select {
		case <-tick.C:
		case <-p.gone:
			return nil, fmt.Errorf("the learner ended by itself (%v):\n%s", p.cmd.ProcessState, tail(p.stderr.String()))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// All examples that are due, however long the last tick took.
		due := int64(time.Since(start).Seconds() * float64(w.options.rate))
		if err := w.pour(ctx, out, s.Examples, due); err != nil {
			return nil, err
		}
		s.Examples = due
		if n%10 == 0 {
			now, err := usage.Look(p.cmd.Process.Pid, listen)
			if err == nil {
				samples = append(samples, now)
			}
		}
		if n%50 == 49 {
			if _, end, err := w.client.Offsets(ctx, answers); err == nil {
				w.client.DeleteRecords(ctx, answers, 0, end[0])
			}
		}
		if time.Now().After(fault) && time.Since(start) < w.options.soak-faultEvery/2 {
			fault = fault.Add(faultEvery)
			if err := w.disturb(ctx, s.Faults, p, bad); err != nil {
				return nil, err
			}
			s.Faults++
		}
	}
	s.Seconds = time.Since(start).Seconds()
	s.Rate = float64(s.Examples) / s.Seconds
	return samples, nil
}

// pour writes examples [from, to) to the single partition. It repeats the
// stream.
func (w *world) pour(ctx context.Context, out *ingest.Producer, from, to int64) error {
	rs := make([]ingest.Record, 0, to-from)
	for i := from; i < to; i++ {
		rs = append(rs, ingest.Record{Time: w.began + i/10, Key: strconv.AppendInt(nil, i, 10), Value: w.values[int(i)%len(w.values)]})
	}
	if len(rs) == 0 {
		return nil
	}
	return out.Publish(ctx, w.topic, 0, rs)
}

// disturb injects the next fault in turn.
func (w *world) disturb(ctx context.Context, n int, p *process, bad *network.Proxy) error {
	switch n % 4 {
	case 0:
		bad.Cut()
	case 1:
		w.server.stop(syscall.SIGKILL)
		pause(ctx, time.Second)
		return w.server.start()
	case 2:
		p.signal(syscall.SIGSTOP)
		pause(ctx, 3*time.Second)
		p.signal(syscall.SIGCONT)
	case 3:
		bad.Suffer(network.Slow)
		bad.Cut()
		pause(ctx, 2*time.Second)
		bad.Suffer(network.Healthy)
		bad.Cut()
	}
	return nil
}

// drained waits until every example has a prediction.
func (w *world) drained(ctx context.Context, n int64, p *process) error {
	patience := 2*time.Minute + w.options.soak // on a busy machine the learner falls behind
	for limit := time.Now().Add(patience); ; {
		_, end, err := w.client.Offsets(ctx, w.model("soak")+".predictions")
		if err == nil && end[0] >= n {
			return nil
		}
		if err != nil && !ingest.Temporary(err) {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%v after the end %d of %d examples are predicted:\n%s", patience, end[0], n, tail(p.stderr.String()))
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// replay has verify learn everything again, from the first example.
func (w *world) replay(ctx context.Context, path string, s *Soak) error {
	log := newModelLog(w.client, w.model("soak"))
	if err := log.catchUp(ctx, w.client, w.model("soak")+".log"); err != nil {
		return err
	}
	if len(log.hashes) == 0 {
		return errors.New("there is no snapshot at the end")
	}
	s.StateHash = log.hashes[len(log.hashes)-1].String()
	out, err := w.accrete(ctx, "verify", "-c", path, "--set", "kafka.bootstrap.servers="+w.brokers, "--json")
	if err != nil {
		return err
	}
	var v struct {
		Compared, Divergent int
		Records             int64
		StateHash           string `json:"state_hash"`
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return err
	}
	s.Compared, s.Divergent, s.ReplayHash = v.Compared, v.Divergent, v.StateHash
	if v.Divergent > 0 || s.StateHash != s.ReplayHash || v.Records != s.Examples {
		return fmt.Errorf("the replay of %d records, of %d fed, comes to state %s and the learner to %s; %d snapshots diverge", v.Records, s.Examples, s.ReplayHash, s.StateHash, v.Divergent)
	}
	return nil
}

// tail returns the end of a process's output.
func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
