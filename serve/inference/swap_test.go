package inference

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
)

var (
	swaps     = flag.Int("swaps", 60, "how often the model is replaced under load (the documented figure is 10,000)")
	swapEvery = flag.Duration("swap-every", 0, "least time between two of them")
)

// A model that is replaced while it answers fails no request, and every answer is wholly of
// the model that it names. Each model is made of its snapshot again after the one before, as by
// a scorer. With -load, rounds with swaps and without them take turns, and their times are
// compared.
func TestSwapsUnderLoadFailNoRequest(t *testing.T) {
	const row = `{"x":[0.3,-1]}`
	var current atomic.Pointer[serve.Served]
	want := map[int64]string{} // by step
	models := steps(t, 20)
	for _, s := range models {
		m, err := serve.NewServed(s)
		if err != nil {
			t.Fatal(err)
		}
		want[m.ID.Step] = want1(t, m, row)
		current.Store(m)
	}
	addr := listening(t, current.Load)
	var answered atomic.Int64
	check := func(b []byte) error {
		var v struct {
			Prediction json.RawMessage
			Step       int64
		}
		if err := json.Unmarshal(b, &v); err != nil || want[v.Step] != string(v.Prediction) {
			return fmt.Errorf("%s: want %s (%v)", b, want[v.Step], err)
		}
		answered.Add(1)
		return nil
	}
	swap := func(stop func(), n int) {
		defer stop()
		tick := time.NewTicker(max(*swapEvery, 100*time.Microsecond))
		defer tick.Stop()
		for i := range n {
			m, err := current.Load().Next(models[i%len(models)])
			if err != nil {
				t.Error(err)
				return
			}
			current.Store(m)
			for from := answered.Load(); ; {
				select {
				case <-tick.C:
				case <-t.Context().Done():
					return
				}
				if answered.Load() >= from+8 {
					break
				}
			}
		}
	}
	rounds := 1
	if *load > 0 {
		rounds = 10
	}
	var with, without []time.Duration
	var cpuWith, cpuWithout time.Duration
	for range rounds {
		ctx, stop := context.WithCancel(t.Context())
		start, cpu := time.Now(), cpuTime()
		go swap(stop, *swaps/rounds)
		with = append(with, hammer(ctx, t, 4, "http://"+addr+"/predict", []byte(row), check)...)
		cpuWith += cpuTime() - cpu
		if *load == 0 {
			break
		}
		ctx, stop = context.WithTimeout(t.Context(), time.Since(start))
		cpu = cpuTime()
		without = append(without, hammer(ctx, t, 4, "http://"+addr+"/predict", []byte(row), check)...)
		cpuWithout += cpuTime() - cpu
		stop()
	}
	slices.Sort(with)
	t.Logf("%d swaps, %d requests: median %v, 99%% %v", *swaps, len(with), quantile(with, .5), quantile(with, .99))
	if *load == 0 {
		return
	}
	slices.Sort(without)
	ratio := float64(quantile(with, .99)) / float64(quantile(without, .99))
	t.Logf("without swaps: %d requests, median %v, 99%% %v; with them it is %.2f times as long", len(without), quantile(without, .5), quantile(without, .99), ratio)
	t.Logf("CPU time %v a request with swaps, %v without them", cpuWith/time.Duration(max(1, len(with))), cpuWithout/time.Duration(max(1, len(without))))
	if ratio > 1.2 {
		t.Errorf("99%% of the requests take %.2f times as long with swaps, want at most 1.2 times", ratio)
	}
}

// want1 returns the JSON of the prediction for a row.
func want1(t *testing.T, m *serve.Served, row string) string {
	p := want(t, m, []string{row})
	b, err := json.Marshal(p.Row(0)[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// steps returns that many snapshots of one learner. The first has another kernel than the
// others, which are from the same checkpoint of the warm-up.
func steps(t *testing.T, n int) []*snapshot.Snapshot {
	rng := rand.New(rand.NewPCG(1, 4))
	var records []string
	at := []int{120}
	for i := range n - 1 {
		at = append(at, 340+8*i)
	}
	for range at[n-1] {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		records = append(records, fmt.Sprintf(`{"x":[%v,%v],"y":%v}`, a, b, a*b))
	}
	return snapshotsOf(t, learner.Config{Task: learner.Regression, Minibatch: 8}, decode.Config{}, records, at...)
}

// BenchmarkSwap is what it costs to make a model of a decoded snapshot, which takes place
// beside the requests: alone, and after another model of the learner. request is one of a row
// without its connection, swapped and one to a model that has just been made.
func BenchmarkSwap(b *testing.B) {
	for _, features := range []int{32, 1024} {
		s := tenInputsOf(b, learner.Config{Task: learner.Regression, Algorithm: "cdsg", MaxFeatures: features, BlockSize: features}, 300)
		m, err := serve.NewServed(s)
		if err != nil {
			b.Fatal(err)
		}
		mux := http.NewServeMux()
		(&Server{Name: "fraud", Model: func() *serve.Served { return m }}).Register(mux)
		request := func() error {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/predict", strings.NewReader(`{"x":[1,2,3,4,5,6,7,8,9,10]}`)))
			if w.Code != http.StatusOK {
				return errors.New(w.Body.String())
			}
			return nil
		}
		next := func() (err error) { m, err = m.Next(s); return err }
		for _, of := range []struct {
			name string
			do   func() error
		}{
			{"first", func() error { _, err := serve.NewServed(s); return err }},
			{"next", next},
			{"request", request},
			{"swapped", func() error { return cmp.Or(next(), request()) }},
		} {
			b.Run(fmt.Sprintf("features=%d/%s", features, of.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := of.do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
