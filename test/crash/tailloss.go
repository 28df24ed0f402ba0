package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/accrete-ml/accrete/ingest"
)

// TailLosses is the result of a run in which the model log repeatedly lost its
// tail.
type TailLosses struct {
	Kills       int     `json:"kills"`       // of learners, including those at a loss
	Losses      int     `json:"losses"`      // losses of the tail of the model log
	Live        int     `json:"losses_live"` // of these, while a learner was running
	Batches     int     `json:"batches_cut"` // record batches lost
	Reported    int     `json:"reported"`    // losses after which a learner exited with 78
	Harmless    int     `json:"harmless"`    // losses of records that nothing had read
	Rollbacks   int64   `json:"rollbacks"`   // found by the oracle
	Silent      int     `json:"silent"`      // losses that should have been reported and were not
	Divergences int64   `json:"divergences"` // found by the oracle
	Differing   int64   `json:"differing"`   // repeated predictions that differ
	Lost        int64   `json:"lost"`        // examples without a prediction
	Compared    int64   `json:"compared"`    // state hashes that the oracle recomputed
	Verified    int     `json:"verified"`    // state hashes that verify recomputed
	Deleted     int     `json:"deleted"`     // times that the log was deleted under a learner, reported, and created again
	Seconds     float64 `json:"seconds"`
}

const refusedCode = 78

// tailLosses kills a learner repeatedly and, from time to time, the broker.
// While the broker is down its log loses the last batches, half of the times
// under a running learner. A process that has read lost records must report the
// loss with exit code 78, and accrete rollback must make the model usable
// again.
func (w *world) tailLosses(ctx context.Context) (s TailLosses, err error) {
	start := time.Now()
	defer func() { s.Seconds = time.Since(start).Seconds() }()
	w.log, w.answer = newModelLog(w.client, w.model("crash")), newPredictions(w.client, w.model("crash"))
	path := w.config("crash")
	every := max(1, w.kills/w.options.tailLosses)
	share := w.examples / (w.kills + 1)
	for turn := 0; s.Kills < w.kills; turn++ {
		if err := w.feed(ctx, w.fed+share); err != nil {
			return s, err
		}
		if turn%every == every-1 && s.Losses < w.options.tailLosses {
			err = w.loseTail(ctx, path, &s)
		} else {
			_, err = w.killOnce(ctx, path, turn)
			s.Kills++
		}
		if err != nil {
			return s, fmt.Errorf("kill %d, loss %d: %w", s.Kills, s.Losses, err)
		}
		if s.Kills%50 == 0 {
			w.options.log("%d kills, %d losses", s.Kills, s.Losses)
		}
	}
	if err := w.feed(ctx, w.examples); err != nil {
		return s, err
	}
	if err := w.deleteLog(ctx, &s); err != nil {
		return s, fmt.Errorf("log deleted: %w", err)
	}
	if _, err := w.accrete(ctx, "learn", "-c", path, "--to-end", "--json"); err != nil {
		return s, err
	}
	return s, w.afterLosses(ctx, path, &s)
}

// loseTail removes some batches from the end of the log and recovers.
func (w *world) loseTail(ctx context.Context, path string, s *TailLosses) error {
	live := s.Losses%2 == 1
	if err := w.catchUp(ctx); err != nil { // so that the next BATCH is one of this learner
		return err
	}
	p, err := w.begin(nil, "learn", "-c", path)
	if err != nil {
		return err
	}
	defer p.end()
	if !w.await(ctx, 2*time.Minute, isBatch) {
		p.end()
		return fmt.Errorf("nothing was learned:\n%s", tail(p.stderr.String()))
	}
	pause(ctx, time.Duration(w.rng.IntN(300))*time.Millisecond)
	if !live {
		p.end()
	}
	w.server.stop(syscall.SIGKILL)
	n := 1 + w.rng.IntN(25)
	if live { // the last batch may not have been acknowledged yet: then it is not lost
		n++
	}
	n, err = w.cut(w.model("crash")+".log", n)
	if err != nil {
		return err
	}
	if err := w.server.start(); err != nil {
		return err
	}
	s.Losses++
	s.Batches += n
	if err := ingest.Retry(ctx, func(error) {}, func() error { // until this client has noticed the restart, too
		_, _, err := w.client.Offsets(ctx, w.model("crash")+".log")
		return err
	}); err != nil {
		return err
	}
	w.log = newModelLog(w.client, w.model("crash"))
	if err := w.catchUp(ctx); err != nil {
		return err
	}
	missed, err := w.missed(ctx)
	if err != nil {
		return err
	}
	if live {
		s.Live++
		missed = n > 1
	} else if p, err = w.begin(nil, "learn", "-c", path); err != nil {
		return err
	}
	defer func() { p.end() }()
	s.Kills++
	return w.leadOn(ctx, path, p, missed, s)
}

// deleteLog deletes the log of another model under its learner, which must
// report the loss, as must the next learner. Only learn --new-model starts
// again.
func (w *world) deleteLog(ctx context.Context, s *TailLosses) error {
	path, topic := w.config("deleted"), w.model("deleted")+".log"
	p, err := w.begin(nil, "learn", "-c", path)
	if err != nil {
		return err
	}
	defer func() { p.end() }()
	log := newModelLog(w.client, w.model("deleted"))
	watch, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	log.await(watch, isManifest)
	admin := kafka.Client{Addr: kafka.TCP(w.brokers)}
	resp, err := admin.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err == nil {
		err = resp.Errors[topic]
	}
	if err != nil {
		return err
	}
	for _, who := range []string{"the learner", "the next one"} {
		code, err := p.ended(2 * time.Minute)
		if err != nil || code != refusedCode {
			return fmt.Errorf("%s ended with %d, %w:\n%s", who, code, err, tail(p.stderr.String()))
		}
		if p, err = w.begin(nil, "learn", "-c", path, "--to-end"); err != nil {
			return err
		}
	}
	p.end()
	if _, err := w.accrete(ctx, "learn", "-c", path, "--new-model", "--to-end", "--json"); err != nil {
		return err
	}
	_, err = w.accrete(ctx, "verify", "-c", path, "--json")
	s.Deleted++
	return err
}

// leadOn checks that a learner reports the loss if a process has read lost
// records, and runs accrete rollback to recover.
func (w *world) leadOn(ctx context.Context, path string, p *process, missed bool, s *TailLosses) error {
	if !missed {
		p.end()
		if w.reported(p) {
			s.Harmless++
			_, err := w.accrete(ctx, "rollback", "-c", path, "--json")
			return err
		}
		// A running learner may have published for the only lost BATCH, and been killed before it
		// noticed: then the next one must.
		published, err := w.missed(ctx)
		if err != nil || !published {
			s.Harmless++
			return err
		}
		if p, err = w.begin(nil, "learn", "-c", path); err != nil {
			return err
		}
		defer p.end()
	}
	code, err := p.ended(2 * time.Minute)
	if err != nil || code != refusedCode || !strings.Contains(p.stderr.String(), "accrete rollback") {
		s.Silent++
		w.options.log("loss %d was not reported: exit code %d, %v\n%s", s.Losses, code, err, tail(p.stderr.String()))
	} else {
		s.Reported++
	}
	if _, err := w.accrete(ctx, "rollback", "-c", path, "--json"); err != nil {
		return err
	}
	w.log = newModelLog(w.client, w.model("crash"))
	return w.catchUp(ctx)
}

// reported reports whether an exited process returned the exit code of a
// refusal.
func (w *world) reported(p *process) bool { return p.cmd.ProcessState.ExitCode() == refusedCode }

// missed reports whether a prediction was published by a BATCH that is no
// longer in the log.
func (w *world) missed(ctx context.Context) (bool, error) {
	topic := w.model("crash") + ".predictions"
	first, end, err := w.client.Offsets(ctx, topic)
	if err != nil {
		return false, err
	}
	last := w.log.fold.Seq()
	f := w.client.Fetcher(topic, 0)
	for next := max(first[0], end[0]-2000); next < end[0]; {
		got, err := f.Poll(ctx, next)
		if err != nil {
			return false, err
		}
		for i := range got.Records {
			seq, err := strconv.ParseInt(header(&got.Records[i], "ce_sequence"), 10, 64)
			if err == nil && seq > last {
				return true, nil
			}
		}
		next = got.Next
	}
	return false, nil
}

// cut removes up to n record batches from the end of a topic, in the files of
// the broker, which must be down, and returns their number. At least one batch
// remains.
func (w *world) cut(topic string, n int) (removed int, err error) {
	dir := filepath.Join(w.server.dir, "data", "partitions", topic+"-0")
	names, err := filepath.Glob(filepath.Join(dir, "*.dat"))
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("%s has no segments: %w", dir, errors.Join(err, os.ErrNotExist))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	newest := names[len(names)-1]
	segment, err := os.ReadFile(newest)
	if err != nil {
		return 0, err
	}
	const header = 12 // size of base offset and length of a record batch
	var at []int64
	for i := 0; i+header <= len(segment); {
		at = append(at, int64(i))
		i += header + int(binary.BigEndian.Uint32(segment[i+8:]))
	}
	removed = min(n, len(at)-1)
	if removed <= 0 {
		return 0, nil
	}
	left := len(at) - removed
	const entry = 15 // bytes per index entry
	return removed, errors.Join(
		os.Truncate(newest, at[left]),
		os.Truncate(strings.TrimSuffix(newest, ".dat")+".idx", int64(left*entry)),
	)
}

// afterLosses runs verify and the oracle on the remaining topics.
func (w *world) afterLosses(ctx context.Context, path string, s *TailLosses) error {
	out, err := w.accrete(ctx, "verify", "-c", path, "--json")
	if err != nil {
		return err
	}
	var v struct{ Compared, Divergent int }
	if err := json.Unmarshal(out, &v); err != nil {
		return err
	}
	s.Verified = v.Compared
	r, err := w.ask(ctx, "crash")
	if err != nil {
		return err
	}
	for _, f := range r.Faults {
		w.options.log("oracle: %s", f)
	}
	s.Rollbacks, s.Divergences, s.Differing, s.Lost, s.Compared = r.Rollbacks, r.Divergences, r.Differing, r.Lost, r.Compared
	switch {
	case v.Divergent > 0 || r.Divergences > 0:
		return fmt.Errorf("%d divergences of verify, %d of the oracle", v.Divergent, r.Divergences)
	case r.Differing > 0 || r.Lost > 0:
		return fmt.Errorf("%d repeated predictions differ, %d examples have none", r.Differing, r.Lost)
	case s.Silent > 0:
		return fmt.Errorf("%d of %d losses were not reported", s.Silent, s.Losses)
	case s.Reported == 0:
		return errors.New("no loss hit anything that somebody had seen: too few to show anything")
	}
	return nil
}
