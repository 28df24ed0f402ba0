package inference

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
)

var (
	idle = flag.Int("idle", 200, "number of idle and slow connections (the documented figure is 10,000)")
	wide = flag.Int("features", 32, "random features of the model that is measured")
	load = flag.Duration("load", 0, "how long each kind of request is measured; 0 skips the measurement")
)

// listening serves the models that model returns on the loopback interface, as a scorer does.
func listening(t *testing.T, model func() *serve.Served) (addr string) {
	t.Helper()
	mux := http.NewServeMux()
	(&Server{Name: "fraud", Model: model}).Register(mux)
	s, err := metrics.Serve(t.Context(), "127.0.0.1:0", mux, metrics.Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Addr()
}

// hammer makes requests on that many connections until ctx is done, checks each answer, and
// returns how long each took, sorted.
func hammer(ctx context.Context, t *testing.T, connections int, url string, body []byte, check func([]byte) error) (took []time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			c := &http.Client{Transport: transport}
			var mine []time.Duration
			for len(mine) == 0 || ctx.Err() == nil {
				start := time.Now()
				b, err := post(c, url, body)
				mine = append(mine, time.Since(start))
				if err == nil {
					err = check(b)
				}
				if err != nil {
					t.Error(err)
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

func post(c *http.Client, url string, body []byte) ([]byte, error) {
	r, err := c.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", r.StatusCode, b)
	}
	return b, err
}

// quantile returns that of sorted durations.
func quantile(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	return took[min(len(took)-1, int(q*float64(len(took))))]
}

// Connections that say nothing, or only a part of a request, do not keep others waiting.
func TestIdleAndSlowConnections(t *testing.T) {
	m := dense(t)
	addr := listening(t, func() *serve.Served { return m })
	measure := func(what string) time.Duration {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), max(*load, 50*time.Millisecond))
		defer stop()
		took := hammer(ctx, t, 4, "http://"+addr+"/predict", []byte(`{"x":[1,2]}`), func([]byte) error { return nil })
		if len(took) == 0 {
			t.Errorf("%s: no request was answered", what)
		}
		t.Logf("%s: %d requests, median %v, 99%% %v", what, len(took), quantile(took, .5), quantile(took, .99))
		return quantile(took, .99)
	}
	alone := measure("alone")
	var quiet []net.Conn
	for i := range *idle {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer c.Close()
		quiet = append(quiet, c)
		slow := "POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{\"x\":"
		if i%4 == 1 {
			slow = slow[:i%50] // a part of the head
		}
		if i%2 == 1 {
			if _, err := io.WriteString(c, slow); err != nil {
				t.Fatal(err)
			}
		}
	}
	beside := measure(fmt.Sprintf("beside %d idle and slow connections", *idle))
	if *load == 0 {
		return
	}
	for _, c := range quiet {
		c.Close()
	}
	alone = (alone + measure("alone again")) / 2
	ratio := float64(beside) / float64(alone)
	if t.Logf("99%% of the requests take %.2f times as long beside them", ratio); ratio > 1.2 {
		t.Errorf("99%% of the requests take %.2f times as long beside idle and slow connections, want at most 1.2 times", ratio)
	}
}

// TestLoad measures requests of one row and of 256, on the loopback interface and with the
// client in the same process. CPU time is that of both.
func TestLoad(t *testing.T) {
	if *load == 0 {
		t.Skip("it measures: -load 10s")
	}
	m, err := serve.NewServed(tenInputsOf(t, learner.Config{Task: learner.Regression, Algorithm: "cdsg", MaxFeatures: *wide, BlockSize: *wide}, 300))
	if err != nil {
		t.Fatal(err)
	}
	addr := listening(t, func() *serve.Served { return m })
	rows := make([]string, 256)
	rng := rand.New(rand.NewPCG(9, 9))
	var flat []string
	for i := range rows {
		var x []string
		for range 10 {
			x = append(x, fmt.Sprintf("%.4f", rng.NormFloat64()))
		}
		rows[i] = `{"x":[` + strings.Join(x, ",") + `]}`
		flat = append(flat, x...)
	}
	tensor := fmt.Sprintf(`{"inputs":[{"name":"rows","datatype":"FP64","shape":[256,10],"data":[%s]}]}`, strings.Join(flat, ","))
	for _, x := range []struct {
		name, path, body  string
		rows, connections int
		rate              float64 // rows/s that it has to reach
	}{
		{"one row", "/predict", rows[0], 1, 8, 8_000},
		{"256 objects", "/predict", "[" + strings.Join(rows, ",") + "]", 256, 4, 150_000},
		{"256 rows of a tensor", "/v2/models/fraud/infer", tensor, 256, 4, 150_000},
	} {
		ctx, stop := context.WithTimeout(t.Context(), *load)
		start, cpu := time.Now(), cpuTime()
		took := hammer(ctx, t, x.connections, "http://"+addr+x.path, []byte(x.body), func([]byte) error { return nil })
		wall, used := time.Since(start), cpuTime()-cpu
		stop()
		n := max(1, len(took))
		rate := float64(n*x.rows) / wall.Seconds()
		if rate < x.rate || x.rows == 1 && quantile(took, .99) > 5*time.Millisecond {
			t.Errorf("%s: %.0f rows/s, want %.0f, and 99%% of single rows within 5ms", x.name, rate, x.rate)
		}
		t.Logf("%s: %.0f requests/s, %.0f rows/s, median %v, 99%% %v, CPU time %v a request of client and server: at most %.0f requests/s, %.0f rows/s on two processors",
			x.name, rate/float64(x.rows), rate, quantile(took, .5), quantile(took, .99), used/time.Duration(n), 2*float64(n)/used.Seconds(), 2*float64(n*x.rows)/used.Seconds())
	}
}

// tenInputsOf is a model of ten inputs, learned from that many rows.
func tenInputsOf(t testing.TB, c learner.Config, rows int) *snapshot.Snapshot {
	rng := rand.New(rand.NewPCG(3, 4))
	var records []string
	for range rows {
		var x []string
		for range 10 {
			x = append(x, fmt.Sprintf("%.4f", rng.NormFloat64()))
		}
		records = append(records, fmt.Sprintf(`{"x":[%s],"y":%v}`, strings.Join(x, ","), rng.NormFloat64()))
	}
	return snapshotOf(t, c, decode.Config{}, records)
}

// BenchmarkRowsTogether is what a row costs that is predicted alone, and together with others:
// the most that gathering concurrent requests could save of each.
func BenchmarkRowsTogether(b *testing.B) {
	for _, features := range []int{32, 4096} {
		m, err := serve.NewServed(tenInputsOf(b, learner.Config{Task: learner.Regression, Algorithm: "cdsg", MaxFeatures: features, BlockSize: features}, 300))
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 4, 16, 64} {
			b.Run(fmt.Sprintf("features=%d/rows=%d", features, n), func(b *testing.B) {
				var batch learner.Batch
				for range b.N / n {
					batch.Reset(10)
					for range n {
						batch.Append(make([]float64, 10), learner.Label{}, 1)
					}
					m.Predict(&batch)
				}
			})
		}
	}
}
