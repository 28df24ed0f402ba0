package main

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

var troubles = flag.Bool("troubles", false, "wait for each failure of a running learner to show in /readyz, about a minute")

// redWithin is how soon a failure has to show.
const redWithin = 30 * time.Second

// troubledSite is a learner that learns a topic, which is fed all the time, and the broker that
// both use.
type troubledSite struct {
	*testing.T
	k      *kfake.Cluster
	client *ingest.Client
	in     string
	p      *learnerProcess
	start  func(args ...string) *learnerProcess
	url    string
	ended  chan struct{} // closed when the learner has ended
	issue  func(end time.Time) *tls.Certificate
	leaf   atomic.Pointer[tls.Certificate] // of the broker
	flawed atomic.Pointer[string]          // what is fed instead of examples, nil for examples
	undo   func()                          // ends the failure
	model  string
	addr   string // of the broker
	slack  time.Duration
}

// trouble is one way in which a learner stops making progress.
type trouble struct {
	name   string
	tls    bool // the broker asks for TLS
	cause  func(*troubledSite)
	red    string              // what /readyz says within 30 s, or "exit N: what the log says"
	after  string              // the same of what follows when it is over; empty: ready
	repair func(*troubledSite) // what an operator does when it is over, if anything
}

var everyTrouble = []trouble{
	{name: "broker gone", red: `kafka: for \d+s: .*(EOF|closed|reset|refused)`, cause: (*troubledSite).cut},
	{name: "input topic deleted", red: `kafka: for \d+s: unknown topic: .* create it`, after: `exit 78: .*deleted and created again`, cause: func(s *troubledSite) {
		kafkatest.Delete(s.T, s.addr, s.in)
		s.undo = func() {
			if err := s.client.Create(s.Context(), s.in, 1, nil); err != nil {
				s.Error(err)
			}
		}
	}},
	{name: "permission to read revoked", red: `exit 78: .*no permission for topic \\?"in\\?"`, cause: func(s *troubledSite) {
		s.fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch, kmsg.ListOffsets}, Topic: s.in, Err: kerr.TopicAuthorizationFailed})
	}},
	{name: "schema flipped", red: `input: paused: \d+ of the last \d+ records were invalid`, cause: func(s *troubledSite) { s.feed(`{"features":{"x":{"value":1},"y":[2]},"label":"true"}`) }, repair: (*troubledSite).resume},
	{name: "disk of the broker full", red: `kafka: for \d+s: topic m.log .*KAFKA_STORAGE_ERROR`, cause: func(s *troubledSite) {
		s.fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "m.log", Err: kerr.KafkaStorageError}, kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "m.predictions", Err: kerr.KafkaStorageError})
	}},
	{name: "output slow", red: `output: for \d+s: topic m.predictions .*NOT_ENOUGH_REPLICAS`, cause: func(s *troubledSite) {
		s.fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "m.predictions", Err: kerr.NotEnoughReplicas})
	}},
	{name: "labels missing", red: `labels: no labels for \d+s`, cause: func(s *troubledSite) {
		s.learnsOn() // how often labels come is known from the second batch on
		s.feed(`{"features":{"x":1,"y":2}}`)
	}},
	{name: "learner hung", red: `no answer`, cause: func(s *troubledSite) {
		s.p.Process.Signal(syscall.SIGSTOP)
		s.undo = func() { s.p.Process.Signal(syscall.SIGCONT) }
	}},
	{name: "transaction hanging", red: `transactions: .*a transaction that begins at offset \d+ has been open for`, cause: func(s *troubledSite) {
		tx := s.client.Transactor("hanging", 10*time.Minute)
		if err := tx.Begin(s.Context()); err != nil {
			s.Fatal(err)
		}
		if _, err := tx.Write(s.Context(), s.in, 0, []ingest.Record{{Time: time.Now().UnixMilli(), Value: ring(rand.New(rand.NewPCG(1, 1)))}}); err != nil {
			s.Fatal(err)
		}
		s.undo = func() {
			if err := tx.Commit(s.Context()); err != nil {
				s.Error(err)
			}
		}
	}},
	{name: "no leader for one of two partitions", red: `kafka: for \d+s: .*Leader Not Available`, cause: func(s *troubledSite) {
		s.grow()
		s.fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.LeaderNotAvailable, When: func(r kmsg.Request) bool {
			return r.(*kmsg.FetchRequest).Topics[0].Partitions[0].Partition == 1 // only the input has one
		}})
	}},
	{name: "partition added", red: growing, cause: (*troubledSite).grow},
	{name: "certificate of the broker expired", tls: true, red: `kafka: for \d+s: .*expired`, cause: func(s *troubledSite) {
		good := s.leaf.Load()
		s.leaf.Store(s.issue(time.Now().Add(-time.Hour)))
		s.cut() // connections that are open stay so
		connect := s.undo
		s.undo = func() { s.leaf.Store(good); connect() }
	}},
}

// Each failure shows in /readyz with its reason within 30 s, and what ends by itself
// is over without a restart.
func TestEveryTroubleShowsAndEnds(t *testing.T) {
	if !*troubles {
		t.Skip("waits for a minute: -troubles")
	}
	for _, c := range everyTrouble {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.tls)
			s.await("ready before", time.Minute, func(state string) bool { return state == "" })
			c.happens(s)
		})
	}
}

// happens causes a failure, awaits that it shows, ends it, and awaits what follows.
func (c *trouble) happens(s *troubledSite) {
	c.cause(s)
	if c.red == growing {
		return
	}
	red := regexp.MustCompile(c.red)
	s.await("red with "+c.red, redWithin+s.slack, red.MatchString)
	if strings.HasPrefix(c.red, "exit") {
		return
	}
	s.undo()
	if c.repair != nil {
		c.repair(s)
	}
	after := regexp.MustCompile("^" + c.after)
	s.await("after it", redWithin+s.slack, func(state string) bool { return after.MatchString(state) && (c.after != "" || state == "") })
}

// growing marks a trouble of which nothing is red, because the learner copes with it.
const growing = "not red"

// grow adds a partition to the input topic, and awaits that the learner has read what is in it
// and was ready all the time.
func (s *troubledSite) grow() {
	kafkatest.AddPartitions(s.T, s.addr, s.in, 2)
	written := s.client.Producer()
	for written.Publish(s.Context(), s.in, 1, []ingest.Record{{Time: time.Now().UnixMilli(), Value: ring(rand.New(rand.NewPCG(1, 1)))}}) != nil {
		time.Sleep(100 * time.Millisecond) // the partition has no leader yet
	}
	was := ""
	s.await("the new partition is read", redWithin+s.slack, func(state string) bool {
		if !strings.HasPrefix(state, "no answer") { // in a second, on a busy machine
			was = cmp.Or(was, state)
		}
		return readOfNew.Match(s.metrics())
	})
	if was != "" {
		s.Errorf("it was not ready: %s", was)
	}
}

// metrics returns what the learner answers, nil if it does not.
func (s *troubledSite) metrics() []byte {
	resp, err := http.Get(s.url + "/metrics")
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	return text
}

var learnedSome = regexp.MustCompile(`accrete_examples_total{[^}]*outcome="learned"[^}]*} [1-9].*`)

// learnsOn waits until the learner has learned from two more batches.
func (s *troubledSite) learnsOn() {
	for range 2 {
		was := learnedSome.FindString(string(s.metrics()))
		s.await("learning on", time.Minute, func(string) bool {
			now := learnedSome.FindString(string(s.metrics()))
			return now != "" && now != was
		})
	}
}

var readOfNew = regexp.MustCompile(`accrete_headroom_records{[^}]*partition="1"[^}]*} 1\n`)

// newSite starts a broker, a stream and a learner.
func newSite(t *testing.T, encrypted bool) *troubledSite {
	s := &troubledSite{T: t, in: "in", model: "m", ended: make(chan struct{}), undo: func() {}}
	var args []string
	opts, change := []kfake.Opt{kfake.NumBrokers(1)}, func(*ingest.Config) {}
	if encrypted {
		var ca string
		s.issue, ca = authority(t)
		s.leaf.Store(s.issue(time.Now().Add(time.Hour)))
		opts = append(opts, kfake.TLS(&tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.leaf.Load(), nil }}))
		args = append(args, "--set", "kafka.security.protocol=SSL", "--set", "kafka.ssl.ca.location="+ca)
		change = func(c *ingest.Config) { c.Security.Protocol, c.Security.CAFile = "SSL", ca }
	}
	k, err := kfake.NewCluster(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	s.k, s.client = k, kafkatest.ClientOf(t, k.ListenAddrs()[0], change)
	s.addr = k.ListenAddrs()[0]
	s.run(s.addr, args...)
	return s
}

// run starts a stream, and a learner that reaches the broker at addr, which learns when run
// returns.
func (s *troubledSite) run(addr string, args ...string) {
	s.Helper()
	if err := s.client.Create(s.Context(), s.in, 1, nil); err != nil {
		s.Fatal(err)
	}
	s.start = learnerOf(s.T, addr, s.model, s.in)
	s.p = s.start(append([]string{"learn", "--json", "--set", "http.listen=127.0.0.1:0"}, args...)...)
	go func() { s.p.Wait(); close(s.ended) }()
	go s.stream()
	s.await("page", time.Minute, func(string) bool {
		if m := serving.FindStringSubmatch(s.p.stderr.String()); m != nil {
			s.url = "http://" + m[1]
		}
		return s.url != ""
	})
	// A topic that is not there when a learner first reads it ends the learner.
	s.await("learning", time.Minute, func(string) bool { return learnedSome.Match(s.metrics()) })
}

// authority returns a function that issues certificates for this machine, valid until
// end, and the file of the authority's certificate.
func authority(t *testing.T) (issue func(end time.Time) *tls.Certificate, file string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	sign := func(c *x509.Certificate) []byte {
		der, err := x509.CreateCertificate(crand.Reader, c, root, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	file = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: sign(root)}), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(end time.Time) *tls.Certificate {
		leaf := &x509.Certificate{SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: end}
		return &tls.Certificate{Certificate: [][]byte{sign(leaf)}, PrivateKey: key}
	}, file
}

// stream writes twenty records ten times a second. Writes fail while a failure lasts.
func (s *troubledSite) stream() {
	rng, out := rand.New(rand.NewPCG(3, 4)), s.client.Producer()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for s.Context().Err() == nil {
		rs := make([]ingest.Record, 20)
		for i := range rs {
			rs[i] = ingest.Record{Time: time.Now().UnixMilli(), Value: ring(rng)}
			if flawed := s.flawed.Load(); flawed != nil {
				rs[i].Value = []byte(*flawed)
			}
		}
		out.Publish(s.Context(), s.in, 0, rs)
		<-tick.C
	}
}

// state is empty for a learner that is ready, and otherwise what /readyz says, that
// there is no answer, or how the learner has ended.
func (s *troubledSite) state() string {
	select {
	case <-s.ended:
		return fmt.Sprintf("exit %d: %s", s.p.ProcessState.ExitCode(), s.p.stderr.tail(1))
	default:
	}
	ctx, cancel := context.WithTimeout(s.Context(), time.Second) // as a probe of Kubernetes
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
	if err != nil {
		s.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "no answer: " + err.Error()
	}
	var ready struct {
		Ready      bool
		Conditions []metrics.State
	}
	if err := json.Unmarshal(text, &ready); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	var red []string
	for _, c := range ready.Conditions {
		if !c.Ready {
			red = append(red, c.Name+": "+c.Reason)
		}
	}
	if ready.Ready != (resp.StatusCode == http.StatusOK) || ready.Ready != (len(red) == 0) {
		s.Errorf("status %d: %s", resp.StatusCode, text)
	}
	return strings.Join(red, "\n")
}

// await waits until the learner is in the state that ok accepts.
func (s *troubledSite) await(what string, limit time.Duration, ok func(state string) bool) {
	s.Helper()
	begin, watch, state := time.Now(), kafkatest.NewStopwatch(), s.state()
	for ; !ok(state); state = s.state() {
		if watch.Elapsed() > limit {
			s.Fatalf("%s: after %v it is %q\n%s", what, limit, state, s.p.stderr.tail(20))
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.Logf("%s after %.1f s: %s", what, time.Since(begin).Seconds(), strings.TrimSpace(state))
}

// fault has the broker answer some requests with errors.
func (s *troubledSite) fault(faults ...kfake.Fault) {
	for i := range faults {
		faults[i].Count = -1
	}
	s.undo = s.k.Fault(faults...).Remove
}

// cut ends each connection to the broker as soon as something is asked.
func (s *troubledSite) cut() {
	var back atomic.Bool
	s.k.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
		if back.Load() {
			return nil, nil, false
		}
		s.k.KeepControl()
		return nil, errors.New("cut"), true
	})
	s.undo = func() { back.Store(true) }
}

// feed has the stream consist of this record.
func (s *troubledSite) feed(record string) {
	s.flawed.Store(&record)
	s.undo = func() { s.flawed.Store(nil) }
}

// resume ends a pause as an operator does.
func (s *troubledSite) resume() {
	p := s.start("resume")
	if err := p.Wait(); err != nil {
		s.Fatalf("resume: %v\n%s", err, p.stderr.String())
	}
}
