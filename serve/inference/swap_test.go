package inference

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
)

var (
	swaps     = flag.Int("swaps", 60, "how often the model is replaced under load (the documented figure is 10,000)")
	swapEvery = flag.Duration("swap-every", 0, "least time between two of them")
)

// A model that is replaced while it answers fails no request, and every answer is wholly of
// the model that it names. Each model is made of its snapshot again, as by a scorer. With
// -load, rounds with swaps and without them take turns, and their times are compared.
func TestSwapsUnderLoadFailNoRequest(t *testing.T) {
	const row = `{"x":[0.3,-1]}`
	var current atomic.Pointer[serve.Served]
	want := map[int64]string{} // by step
	var models []func() *serve.Served
	for i := range 3 {
		again := reloaded(t, 120+40*i)
		m := again()
		want[m.ID.Step] = want1(t, m, row)
		models = append(models, again)
	}
	current.Store(models[0]())
	addr := listening(t, current.Load)
	answered := make(chan struct{})
	check := func(b []byte) error {
		var v struct {
			Prediction json.RawMessage
			Step       int64
		}
		if err := json.Unmarshal(b, &v); err != nil || want[v.Step] != string(v.Prediction) {
			return fmt.Errorf("%s: want %s (%v)", b, want[v.Step], err)
		}
		select {
		case answered <- struct{}{}:
		default:
		}
		return nil
	}
	swap := func(stop func(), n int) {
		defer stop()
		for i := range n {
			next := time.After(*swapEvery)
			current.Store(models[i%len(models)]())
			for range 8 {
				select {
				case <-answered:
				case <-t.Context().Done():
				}
			}
			<-next
		}
	}
	rounds := 1
	if *load > 0 {
		rounds = 10
	}
	var with, without []time.Duration
	for range rounds {
		ctx, stop := context.WithCancel(t.Context())
		start := time.Now()
		go swap(stop, *swaps/rounds)
		with = append(with, hammer(ctx, t, 4, "http://"+addr+"/predict", []byte(row), check)...)
		if *load == 0 {
			break
		}
		ctx, stop = context.WithTimeout(t.Context(), time.Since(start))
		without = append(without, hammer(ctx, t, 4, "http://"+addr+"/predict", []byte(row), check)...)
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

// reloaded returns a function that decodes a model of that many rows again.
func reloaded(t *testing.T, n int) func() *serve.Served {
	rng := rand.New(rand.NewPCG(uint64(n), 4))
	var records []string
	for range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		records = append(records, fmt.Sprintf(`{"x":[%v,%v],"y":%v}`, a, b, a*b))
	}
	s := snapshotOf(t, learner.Config{Task: learner.Regression}, decode.Config{}, records)
	return func() *serve.Served {
		m, err := serve.NewServed(s)
		if err != nil {
			panic(err)
		}
		return m
	}
}

// BenchmarkSwap is what it costs to make a model of a decoded snapshot, which takes place
// beside the requests.
func BenchmarkSwap(b *testing.B) {
	for _, features := range []int{32, 1024} {
		s := tenInputsOf(b, learner.Config{Task: learner.Regression, Algorithm: "cdsg", MaxFeatures: features, BlockSize: features}, 300)
		b.Run(fmt.Sprintf("features=%d", features), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := serve.NewServed(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
