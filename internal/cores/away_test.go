package cores

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// What Go calls is called once, whether a helper begins or Wait does, and Runs at the same
// time do each of their tasks once.
func TestGoCallsOnce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		all := team(t, n)
		for round := range 400 {
			calls, done := 0, make([]int32, 30)
			all.Go(func() {
				calls++
				for range round % 7 * 1000 {
					runtime.KeepAlive(calls)
				}
			})
			for range round % 4 {
				clear(done)
				all.Run(len(done), func(_, task int) { done[task]++ })
				for i, times := range done {
					if times != 1 {
						t.Fatalf("team of %d: task %d was done %d times", n, i, times)
					}
				}
			}
			if round%5 == 0 {
				all.Rest()
			}
			all.Wait()
			if calls != 1 {
				t.Fatalf("team of %d: %d calls", n, calls)
			}
			all.Resize(n)
		}
		all.Rest()
	}
}

// The caller does other things at the same time, Runs included, and the helper takes part in
// one that has begun before it is back.
func TestHelperReturnsToTheTasks(t *testing.T) {
	all := team(t, 2)
	begun, back := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		close(begun)
		<-back
	})
	<-begun
	all.Run(3, func(worker, task int) {
		if worker != 0 {
			t.Errorf("worker %d does task %d", worker, task)
		}
	})
	var by [2]atomic.Int32
	all.Run(2, func(worker, task int) {
		by[task].Store(1 + int32(worker))
		if task == 0 {
			close(back)
			for end := time.Now().Add(10 * time.Second); by[1].Load() == 0 && time.Now().Before(end); {
				runtime.Gosched()
			}
		}
	})
	if by[0].Load() != 1 || by[1].Load() != 2 {
		t.Errorf("the tasks were done by %d and %d, want 1 and 2", by[0].Load(), by[1].Load())
	}
	all.Wait()
	all.Rest()
}

// Wait blocks for a long call, and passes its panic on, whether a helper has begun it or not.
// The team is as before.
func TestWaitPassesAPanicOn(t *testing.T) {
	all := team(t, 2)
	for _, wait := range []bool{false, true} {
		got := func() (p any) {
			defer func() { p = recover() }()
			begun, end := make(chan struct{}), make(chan struct{})
			all.Go(func() {
				close(begun)
				if wait {
					<-end
				}
				panic("its own")
			})
			if wait {
				<-begun
				go func() {
					for all.helpers[0].state.Load() != missed {
						runtime.Gosched()
					}
					close(end)
				}()
			}
			all.Wait()
			return nil
		}()
		if got != "its own" {
			t.Errorf("the caller got the panic %v", got)
		}
		called := false
		all.Go(func() { called = true })
		all.Wait()
		if !called {
			t.Error("no call after the panic")
		}
	}
	all.Rest()
}

// A team in a pause, and that of one core, have no helper: Go calls.
func TestGoCallsWithoutAHelper(t *testing.T) {
	all := team(t, 2)
	all.paused = 1
	for range 2 {
		called := false
		if all.Go(func() { called = true }); !called || len(all.helpers) > 0 {
			t.Errorf("%v, with %d helpers", called, len(all.helpers))
		}
		all.paused = 0
		runtime.GOMAXPROCS(1)
	}
}
