package inference

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/serve"
)

// Requests for predictions that never reach a model are counted as well: with their status, or as 499
// if their client has gone. Requests for other paths are not.
func TestEveryRequestForPredictionsIsCounted(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, rows := typed(t)
	var mu sync.Mutex
	answered, untimed := map[int]int{}, map[int]int{}
	count := func(codes map[int]int, code int) {
		mu.Lock()
		defer mu.Unlock()
		codes[code]++
	}
	server := &Server{
		Name: "fraud", Model: func() *serve.Served { return m },
		Observe: func(code, _ int, _ time.Duration) { count(answered, code) },
		Untimed: func(code int) { count(untimed, code) },
	}
	mux := metrics.Mux(prometheus.NewRegistry(), metrics.NewHealth(time.Now))
	server.Register(mux)
	s, err := metrics.Serve(t.Context(), "127.0.0.1:0", mux, metrics.Access{Token: token, Refused: server.Refused})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, test := range []struct {
		method, path, host, token string
		want                      int
	}{
		{"POST", "/predict", "", "secret", 200},
		{"POST", "/predict", "", "other", 401},
		{"POST", "/v2/models/fraud/infer", "", "", 401},
		{"POST", "/v2/models/fraud/versions/7/infer", "evil.example", "secret", 421},
		{"GET", "/v2/models/fraud/infer", "", "secret", 405},
		{"PUT", "/predict", "", "secret", 405},
		{"POST", "/v2/models/other/infer", "", "secret", 404},
		{"GET", "/metrics", "", "", 401},
		{"GET", "/metrics", "evil.example", "secret", 421},
		{"POST", "/v2/models/fraud", "", "secret", 405},
		{"POST", "/nothing", "", "secret", 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, "http://"+s.Addr()+test.path, strings.NewReader(rows[0]))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = test.host
		r.Header.Set("Authorization", "Bearer "+test.token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != test.want {
			t.Errorf("%v: status %d", test, resp.StatusCode)
		}
	}
	for _, body := range []string{"Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n2\r\n{\"\r\n"} {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "POST /predict HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n%s", body); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	wantAnswered, wantUntimed := map[int]int{200: 1, 404: 1}, map[int]int{401: 2, 405: 2, 421: 1, 499: 2}
	same := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return maps.Equal(answered, wantAnswered) && maps.Equal(untimed, wantUntimed)
	}
	for deadline := time.Now().Add(time.Minute); !same(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("answered %v, untimed %v, want %v and %v", answered, untimed, wantAnswered, wantUntimed)
		}
	}
}

// A client that goes away while its request waits for others has not met the limit of requests.
func TestAClientThatDoesNotWaitIsNotRefused(t *testing.T) {
	m, _ := typed(t)
	var codes []int
	s := &Server{Name: "fraud", Model: func() *serve.Served { return m }, Observe: func(code, _ int, _ time.Duration) { codes = append(codes, code) }, Untimed: func(code int) { codes = append(codes, code) }}
	mux := http.NewServeMux()
	s.Register(mux)
	for range atOnce {
		s.busy <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/predict", strings.NewReader(`{"amount":1}`)))
	if !slices.Equal(codes, []int{499}) {
		t.Errorf("counted %v", codes)
	}
}

// A body that stalls, which ends the context of the request as well, is counted as what it is answered.
func TestAStalledBodyIsCountedAsATimeout(t *testing.T) {
	m, _ := typed(t)
	var codes []int
	s := &Server{Name: "fraud", Model: func() *serve.Served { return m }, Observe: func(code, _ int, _ time.Duration) { codes = append(codes, code) }, Untimed: func(code int) { codes = append(codes, -code) }}
	mux := http.NewServeMux()
	s.Register(mux)
	ctx, cancel := context.WithCancel(t.Context())
	stalled := readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/predict", stalled))
	if w.Code != http.StatusRequestTimeout || !slices.Equal(codes, []int{http.StatusRequestTimeout}) {
		t.Errorf("answered %d, counted %v", w.Code, codes)
	}
}

type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
