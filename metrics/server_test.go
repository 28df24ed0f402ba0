package metrics

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestThePortAnswers(t *testing.T) {
	r := prometheus.NewRegistry()
	NewLearner("m", r).Learned.Add(3)
	h := NewHealth(newClock().now)
	claim := h.Add("claim", "waiting for <b>it</b>")
	s, err := Serve(t.Context(), "127.0.0.1:0", Mux(r, h), Access{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check := func(path string, code int, has string) {
		t.Helper()
		if got, body := get(t, "http://"+s.Addr()+path); got != code || !strings.Contains(body, has) {
			t.Errorf("%s: status %d, %s; want %d, %s", path, got, body, code, has)
		}
	}
	check("/metrics", 200, `accrete_examples_total{model="m",outcome="learned"} 3`)
	check("/livez", 200, `{"live":true}`)
	check("/readyz", 503, `{"ready":false,"conditions":[{"name":"claim","ready":false,"reason":"waiting for \u003cb\u003eit\u003c/b\u003e"}]}`)
	claim.Green()
	check("/readyz", 200, `{"ready":true,"conditions":[{"name":"claim","ready":true}]}`)
	check("/debug/pprof/", 404, `{"error":"there is no /debug/pprof/"}`)
	check("/", 404, `{"error":"there is no /"}`)

	if _, err := Serve(t.Context(), s.Addr(), http.NotFoundHandler(), Access{}); err == nil || err.Error() != s.Addr()+" is in use by another program: choose another address, or port 0 to pick a free one" {
		t.Errorf("on a port in use: %v", err)
	}
	listener, taken := net.Listen("tcp", s.Addr())
	if taken == nil {
		listener.Close()
	}
	_, mine := Serve(t.Context(), s.Addr(), http.NotFoundHandler(), Access{})
	windows := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.Errno(10048))}
	for _, err := range []error{taken, mine, windows} {
		if !InUse(err) {
			t.Errorf("%v is not taken for an address in use", err)
		}
	}
	if InUse(nil) || InUse(syscall.EACCES) {
		t.Error("what is no such error is taken for one")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again, err := Serve(t.Context(), s.Addr(), http.NotFoundHandler(), Access{})
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// slow starts a server whose requests take until the returned function is called, and a request
// that has arrived. The response is sent on the channel: 0 if the connection was closed without one.
func slow(t *testing.T) (s *Server, answer func(), status chan int) {
	t.Helper()
	arrived, hold := make(chan struct{}), make(chan struct{})
	s, err := Serve(t.Context(), "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-hold
		w.WriteHeader(http.StatusTeapot)
	}), Access{})
	if err != nil {
		t.Fatal(err)
	}
	status = make(chan int, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get("http://" + s.Addr())
		if err != nil {
			status <- 0
			return
		}
		response.Body.Close()
		status <- response.StatusCode
	}()
	<-arrived
	return s, sync.OnceFunc(func() { close(hold) }), status
}

// A request that takes longer than the 2 s within which others are answered gets its response.
func TestCloseWaitsForRequestsUnderWay(t *testing.T) {
	s, answer, status := slow(t)
	time.AfterFunc(2500*time.Millisecond, answer)
	if cut, err := s.Drain(DrainLimit); cut != 0 || err != nil {
		t.Errorf("%d requests were cut off, %v", cut, err)
	}
	if got := <-status; got != http.StatusTeapot {
		t.Errorf("status %d, want the response of the handler", got)
	}
}

// A request that has arrived when Drain begins is answered, also if no handler has it yet.
func TestDrainAnswersWhatHasArrived(t *testing.T) {
	s, err := Serve(t.Context(), "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), Access{})
	if err != nil {
		t.Fatal(err)
	}
	s.fresh = time.Minute
	until := func(done func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it does not happen")
			}
		}
	}
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	until(func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.busy) == 1 })
	s.mu.Lock() // holds the connection up after its request was read
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	drained := make(chan error)
	go func() { drained <- s.Close() }()
	until(func() bool {
		other, err := net.Dial("tcp", s.Addr())
		if err == nil {
			other.Close()
		}
		return err != nil
	})
	s.mu.Unlock()
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || response.StatusCode != http.StatusTeapot || !response.Close {
		t.Errorf("%+v, %v: want the answer of the handler, and the end of the connection", response, err)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

func TestDrainCountsTheRequestsThatItCutsOff(t *testing.T) {
	s, answer, status := slow(t)
	defer answer()
	if cut, err := s.Drain(10 * time.Millisecond); cut != 1 || err != nil {
		t.Errorf("%d requests were cut off, %v; want 1", cut, err)
	}
	if got := <-status; got != 0 {
		t.Errorf("status %d, want none", got)
	}
}

// Connections without a request under way, used or not, do not delay the stop.
func TestCloseDoesNotWaitForIdleConnections(t *testing.T) {
	s, err := Serve(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), Access{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://" + s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	began := time.Now()
	if cut, err := s.Drain(DrainLimit); cut != 0 || err != nil {
		t.Errorf("%d requests were cut off, %v", cut, err)
	}
	if took := time.Since(began); took > 4*time.Second { // net/http alone: 5 s
		t.Errorf("it took %v", took)
	}
}
