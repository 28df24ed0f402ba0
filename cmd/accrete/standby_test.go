package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

var (
	takeovers = flag.Int("takeovers", 3, "how often the owner of a model with a standby is killed (about 3 s each; the documented figure is 20)")
	duel      = flag.Duration("duel", 8*time.Second, "how long two learners are restarted whatever they end with (the documented figure is 60 s)")
)

// fixedAddr returns the address of a Kafka that processes can reach.
func fixedAddr(t *testing.T) string {
	if addr := os.Getenv("ACCRETE_TEST_BROKERS"); addr != "" {
		return addr
	}
	b := newFixedBroker(t)
	b.start()
	return b.addr
}

// tailOf reads a model log while it grows.
type tailOf struct {
	fetcher *ingest.Fetcher
	fold    *modellog.Fold
	next    int64
	claims  []modellog.Claim
}

func newTail(c *ingest.Client, model string) *tailOf {
	return &tailOf{fetcher: c.Fetcher(model+".log", 0), fold: modellog.NewFold(0, 3)}
}

// until reads until a record that counts satisfies wanted, and returns the time
// at which it was seen.
func (l *tailOf) until(ctx context.Context, t *testing.T, what string, wanted func(modellog.Record) bool) time.Time {
	t.Helper()
	for ctx.Err() == nil {
		got, err := l.fetcher.Poll(ctx, l.next)
		if err != nil {
			time.Sleep(2 * time.Millisecond) // wait for the learner to create the topic
			continue
		}
		l.next = got.Next
		at, found := time.Now(), false
		for _, r := range got.Records {
			v, err := l.fold.Add(r.Offset, r.Key, r.Value)
			if err != nil {
				t.Fatal(err)
			}
			if c, ok := v.Record.(*modellog.Claim); ok && v.Counts() {
				l.claims = append(l.claims, *c)
			}
			found = found || v.Counts() && wanted(v.Record)
		}
		if found {
			return at
		}
	}
	t.Fatalf("no %s came", what)
	return time.Time{}
}

// flowing feeds a topic until the returned function is called.
func flowing(ctx context.Context, t *testing.T, c *ingest.Client, topic string) (stop func()) {
	t.Helper()
	if err := c.Create(ctx, topic, 1, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var g sync.WaitGroup
	g.Go(func() {
		rng := rand.New(rand.NewPCG(5, 6))
		out := c.Producer()
		for tick := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; {
			rs := make([]ingest.Record, 40)
			for i := range rs {
				rs[i] = ingest.Record{Time: time.Now().UnixMilli(), Value: ring(rng)}
			}
			if err := out.Publish(ctx, topic, 0, rs); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		g.Wait()
	}
}

// TestStandbyTakesOver checks that a standby continues learning within one
// second (median) after the owner is killed, and at once after the owner
// leaves. No other learner then fences the new owner.
func TestStandbyTakesOver(t *testing.T) {
	if testing.Short() {
		t.Skip("about 3 s for each of -takeovers")
	}
	addr := fixedAddr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in := kafkatest.Name("in")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(*takeovers)*20*time.Second)
	defer cancel()
	stop := flowing(ctx, t, client, in)
	defer stop()
	start := learnerOf(t, addr, in+".m", in)
	log := newTail(client, in+".m")
	batchOf := func(epoch int64) func(modellog.Record) bool {
		return func(r modellog.Record) bool {
			b, ok := r.(*modellog.Batch)
			return ok && b.Owner.Epoch >= epoch
		}
	}
	owner := start("learn", "--standby")
	log.until(ctx, t, "first BATCH", batchOf(1))
	next := start("learn", "--standby")
	var claims, learned []time.Duration
	for i := range *takeovers + 1 {
		waitFor(ctx, t, "a standby", func() bool { return standingByNow(next) })
		epoch := log.fold.Claim().Epoch
		log.until(ctx, t, "MANIFEST", func(r modellog.Record) bool { _, ok := r.(*modellog.Manifest); return ok })
		rest := time.NewTimer(rand.N(400 * time.Millisecond))
		<-rest.C
		leaves := i == *takeovers
		begin := time.Now()
		if leaves {
			owner.Process.Signal(syscall.SIGTERM)
			owner.Wait()
			begin = time.Now()
			if code := owner.ProcessState.ExitCode(); code != exit.Done {
				t.Errorf("told to stop, the owner ended with %d\n%s", code, owner.stderr.tail(10))
			}
		} else {
			owner.Process.Kill()
			owner.Wait()
		}
		var claim, batch time.Duration
		log.until(ctx, t, "CLAIM or BATCH after the end of the owner", func(r modellog.Record) bool {
			c, ok := r.(*modellog.Claim)
			return ok && c.Epoch > epoch
		})
		claim = time.Since(begin)
		log.until(ctx, t, "BATCH of the standby", batchOf(epoch+1))
		batch = time.Since(begin)
		t.Logf("kill %d (left: %v): claimed after %v, learned after %v", i+1, leaves, claim.Round(time.Millisecond), batch.Round(time.Millisecond))
		if leaves {
			if !strings.Contains(next.stderr.String(), `"left":true`) {
				t.Errorf("the owner has left, and the standby waited for it to be silent\n%s", next.stderr.tail(10))
			}
			break
		}
		claims, learned = append(claims, claim), append(learned, batch)
		owner, next = next, start("learn", "--standby")
	}
	slices.Sort(claims)
	slices.Sort(learned)
	t.Logf("of %d kills: claimed after %v in the median, %v at most; learned on after %v in the median, %v at most", len(claims),
		claims[len(claims)/2], claims[len(claims)-1], learned[len(learned)/2], learned[len(learned)-1])
	limit := time.Second
	if *takeovers < 10 { // beside other tests, and too few for a median
		limit = 10 * time.Second
	}
	if m := learned[len(learned)/2]; m > limit {
		t.Errorf("the median of %d takeovers is %v, want at most %v", len(learned), m, limit)
	}
	if want := *takeovers + 2; len(log.claims) != want {
		t.Errorf("%d claims for %d ends of an owner, want %d", len(log.claims), *takeovers+1, want)
	}
	next.Process.Signal(syscall.SIGTERM)
	if err := next.Wait(); err != nil {
		t.Errorf("%v\n%s", err, next.stderr.tail(10))
	}
	stop()
	verified(t, start)
}

// standingByNow reports whether a learner has announced that it is a standby.
func standingByNow(p *learnerProcess) bool {
	return strings.Contains(p.stderr.String(), `"running as a standby"`)
}

// waitFor polls a condition.
func waitFor(ctx context.Context, t *testing.T, what string, ok func() bool) {
	t.Helper()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func verified(t *testing.T, start func(...string) *learnerProcess) {
	t.Helper()
	var v struct{ Compared, Divergent int }
	start("verify", "--json").report(t, &v)
	if v.Compared == 0 || v.Divergent != 0 {
		t.Errorf("verify: %+v", v)
	}
}

// TestStandbyAndAPausedOwner checks that the standby of a paused owner takes
// over, and that the owner is fenced when it resumes.
func TestStandbyAndAPausedOwner(t *testing.T) {
	if testing.Short() {
		t.Skip("about 5 s")
	}
	t.Parallel()
	addr := fixedAddr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in := kafkatest.Name("in")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stop := flowing(ctx, t, client, in)
	defer stop()
	start := learnerOf(t, addr, in+".m", in)
	log := newTail(client, in+".m")
	owner := start("learn", "--standby")
	log.until(ctx, t, "CLAIM", isClaimOf(1))
	next := start("learn", "--standby")
	waitFor(ctx, t, "a standby", func() bool { return standingByNow(next) })
	owner.Process.Signal(syscall.SIGSTOP)
	log.until(ctx, t, "CLAIM of the standby", isClaimOf(2))
	owner.Process.Signal(syscall.SIGCONT)
	owner.Wait()
	if code := owner.ProcessState.ExitCode(); code != exit.Fenced {
		t.Errorf("the paused owner ended with %d, want %d\n%s", code, exit.Fenced, owner.stderr.tail(10))
	}
	next.Process.Signal(syscall.SIGTERM)
	if err := next.Wait(); err != nil {
		t.Errorf("%v\n%s", err, next.stderr.tail(10))
	}
	stop()
	verified(t, start)
}

func isClaimOf(epoch int64) func(modellog.Record) bool {
	return func(r modellog.Record) bool {
		c, ok := r.(*modellog.Claim)
		return ok && c.Epoch == epoch
	}
}

// TestStandbyWaitsOutABroker checks that a standby does not take a broker
// outage for the failure of the owner.
func TestStandbyWaitsOutABroker(t *testing.T) {
	if testing.Short() {
		t.Skip("about 8 s")
	}
	t.Parallel()
	b := newFixedBroker(t)
	b.start()
	client := kafkatest.ClientOf(t, b.addr, nil)
	in := kafkatest.Name("in")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stop := flowing(ctx, t, client, in)
	defer stop()
	start := learnerOf(t, b.addr, in+".m", in)
	log := newTail(client, in+".m")
	anyBatch := func(r modellog.Record) bool { _, ok := r.(*modellog.Batch); return ok }
	owner := start("learn", "--standby")
	log.until(ctx, t, "BATCH", anyBatch)
	next := start("learn", "--standby")
	waitFor(ctx, t, "a standby", func() bool { return standingByNow(next) })
	b.kill()
	rest := time.NewTimer(2 * time.Second)
	<-rest.C
	b.start()
	for range 20 { // more than a second of learning
		log.until(ctx, t, "BATCH after the outage", anyBatch)
	}
	for _, p := range []*learnerProcess{next, owner} {
		p.Process.Signal(syscall.SIGTERM)
		if err := p.Wait(); err != nil {
			t.Errorf("%v\n%s", err, p.stderr.tail(10))
		}
	}
	if len(log.claims) != 1 {
		t.Errorf("%d claims, want 1\n%s", len(log.claims), next.stderr.tail(20))
	}
}

// TestTwoLearnersUnderSupervisorsSettle checks that two learners, each
// restarted immediately after any exit, stop taking over the model from each
// other.
func TestTwoLearnersUnderSupervisorsSettle(t *testing.T) {
	if testing.Short() {
		t.Skip("as long as -duel")
	}
	t.Parallel()
	addr := fixedAddr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in := kafkatest.Name("in")
	ctx, cancel := context.WithTimeout(t.Context(), *duel+time.Minute)
	defer cancel()
	stop := flowing(ctx, t, client, in)
	defer stop()
	start := learnerOf(t, addr, in+".m", in)
	over := time.Now().Add(*duel)
	var g sync.WaitGroup
	var mu sync.Mutex
	ends := map[int]int{}
	for range 2 {
		g.Go(func() {
			for time.Now().Before(over) {
				p := start("learn")
				end := time.AfterFunc(time.Until(over), func() { p.Process.Signal(syscall.SIGTERM) })
				p.Wait()
				end.Stop()
				mu.Lock()
				ends[p.ProcessState.ExitCode()]++
				mu.Unlock()
			}
		})
	}
	g.Wait()
	log := newTail(client, in+".m")
	last := log.end(ctx, t, client, in+".m.log")
	t.Logf("%d claims and %d records of the log in %v; exit codes: %v", len(log.claims), last, *duel, ends)
	if len(log.claims) > 5 {
		t.Errorf("%d claims, want at most 5", len(log.claims))
	}
	if len(log.claims) < 2 {
		t.Errorf("%d claims: they did not meet", len(log.claims))
	}
	stop()
	verified(t, start)
}

// end reads up to the current end and returns it.
func (l *tailOf) end(ctx context.Context, t *testing.T, c *ingest.Client, topic string) int64 {
	t.Helper()
	_, end, err := c.Offsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	l.until(ctx, t, "end", func(modellog.Record) bool { return l.next >= end[0] })
	return end[0]
}
