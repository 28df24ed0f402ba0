package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var (
	schedules = flag.Int("schedules", 0, "how many schedules TestSchedules runs, from a random seed on; 0: the first 100")
	seed      = flag.Uint64("seed", 0, "the one schedule to run; with -v it prints what happened")
)

// simulate runs the schedule of a seed.
func simulate(t *testing.T, seed uint64) *world {
	var w *world
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(seed)
		w.run()
	})
	return w
}

// TestSchedules runs random schedules. It checks safety at every step, and
// liveness after the faults. 100 schedules take about 6 s.
func TestSchedules(t *testing.T) {
	n, first := *schedules, uint64(time.Now().UnixNano())>>12
	if n == 0 {
		n, first = 100, 1
	}
	if testing.Short() || raced {
		n = min(n, 50)
	}
	if *seed != 0 {
		n, first = 1, *seed
	}
	start := time.Now()
	var mu sync.Mutex
	var total stats
	next, failed := 0, 0
	t.Run("all", func(t *testing.T) {
		for i := range min(n, runtime.GOMAXPROCS(0)) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for {
					mu.Lock()
					seed := first + uint64(next)
					next++
					stop := next > n || failed > 3
					mu.Unlock()
					if stop {
						return
					}
					w := simulate(t, seed)
					mu.Lock()
					total.add(w.stats)
					if w.violation != "" {
						failed++
						t.Errorf("seed %d: %s", seed, w.violation)
					}
					mu.Unlock()
					if *schedulesTrace || (n == 1 || w.violation != "") && testing.Verbose() {
						fmt.Fprint(os.Stderr, w.trace.String())
					}
				}
			})
		}
	})
	t.Logf("%d schedules from seed %d in %v: %+v", n, first, time.Since(start).Round(time.Millisecond), total)
}

var schedulesTrace = flag.Bool("trace", false, "print what happened in every schedule")
