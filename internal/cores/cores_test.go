package cores

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// team returns one of n on as many cores, until the test ends.
func team(t *testing.T, n int) *Team {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	var all Team
	all.Resize(n)
	return &all
}

// Each task is done once, in each of many phases, with pauses between some of them that are
// longer than a helper waits, and with helpers that are to end.
func TestTeamDoesEachTaskOnce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		all := team(t, n)
		for phase := range 400 {
			done := make([]int32, 1+phase%50)
			all.Run(len(done), func(worker, task int) {
				if worker < 0 || worker >= n {
					t.Errorf("worker %d of %d", worker, n)
				}
				done[task]++
			})
			for i, times := range done {
				if times != 1 {
					t.Fatalf("team of %d: task %d was done %d times", n, i, times)
				}
			}
			switch phase % 40 {
			case 7:
				for i := 0; i < 20*waitSpins; i++ {
					if len(all.helpers) > 0 && all.helpers[0].state.Load() == absent {
						break
					}
				}
			case 13:
				all.Rest()
			case 20:
				all.Start()
			case 27:
				all.Rest()
				all.Start()
			}
		}
		all.Rest()
	}
}

// A task that waits for another one is done only if there are two goroutines.
func TestTeamDoesTasksAtTheSameTime(t *testing.T) {
	all := team(t, 2)
	for i := range 50 {
		all.Resize(2)
		if all.Size() == 1 {
			continue // a pause
		}
		if i%2 == 0 {
			all.Start()
		}
		var begun [2]chan struct{}
		for i := range begun {
			begun[i] = make(chan struct{})
		}
		all.Run(2, func(_, task int) {
			close(begun[task])
			<-begun[1-task]
		})
	}
	all.Rest()
}

func TestTeamPassesAPanicOn(t *testing.T) {
	all := team(t, 2)
	for _, by := range []int{0, 1} {
		for all.Size() == 1 {
			all.Resize(2) // a pause
		}
		begun := make(chan struct{})
		var got any
		func() {
			defer func() { got = recover() }()
			all.Run(2, func(worker, task int) {
				if task == 0 {
					<-begun
				} else {
					close(begun)
				}
				if worker == by {
					panic(by)
				}
			})
		}()
		if got != by {
			t.Errorf("worker %d: the caller got the panic %v", by, got)
		}
		var sum atomic.Int64
		if all.Run(100, func(_, task int) { sum.Add(int64(task)) }); sum.Load() != 4950 {
			t.Errorf("worker %d: the tasks after the panic add up to %d", by, sum.Load())
		}
	}
	all.Rest()
}

// After a panic of the caller, helpers start no more tasks.
func TestNoTaskStartsAfterAPanic(t *testing.T) {
	all := team(t, 2)
	begun := make(chan struct{})
	var after atomic.Int64 // tasks of the helper after its first
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the caller got no panic")
			}
		}()
		all.Run(1000, func(worker, _ int) {
			if worker == 0 {
				<-begun
				panic("the caller's")
			}
			select {
			case <-begun:
				after.Add(1)
				return
			default:
				close(begun)
			}
			for end := time.Now().Add(10 * time.Second); all.next.Load() < 1000 && time.Now().Before(end); {
				runtime.Gosched()
			}
		})
	}()
	if after.Load() != 0 {
		t.Errorf("the helper did %d more tasks", after.Load())
	}
	all.Rest()
}

// Where the caller blocks for helpers again and again, it does the tasks alone for a while.
func TestTeamPausesWhereHelpersAreLate(t *testing.T) {
	all := team(t, 2)
	for range maxLate {
		if all.Size() != 2 {
			t.Fatalf("a team of %d before the pause", all.Size())
		}
		var once sync.Once
		wait := make(chan struct{})
		all.Run(2, func(worker, _ int) {
			if worker == 0 {
				<-wait // the other task is the helper's
				return
			}
			once.Do(func() { close(wait) })
			for all.helpers[0].state.Load() != awaited {
				runtime.Gosched()
			}
		})
	}
	for i := range pause {
		if all.Resize(2); all.Size() != 1 {
			t.Errorf("a team of %d after %d sizes", all.Size(), i)
		}
	}
	if all.Resize(2); all.Size() != 2 {
		t.Errorf("a team of %d after the pause", all.Size())
	}
	all.Rest()
}

// A team that rests, and one that is not used for a while, have no goroutine.
func TestHelpersEnd(t *testing.T) {
	for _, rest := range []bool{true, false} {
		all := team(t, 4)
		all.Run(1000, func(int, int) {})
		if rest {
			all.Rest()
		}
		for _, h := range all.helpers {
			for h.state.Load() != absent {
				runtime.Gosched()
			}
		}
	}
}

func TestOrderIsThatOfTheTasks(t *testing.T) {
	all, want := team(t, 8), []int{}
	for i := range 1000 {
		if i%7 != 3 {
			want = append(want, i)
		}
	}
	var o Order[int]
	for round := range 20 {
		var got []int
		o.Begin(all.Size(), func(task *int) { got = append(got, *task) })
		do := func(worker, task int) {
			if task%7 == 3 {
				o.Give(worker, task, nil)
				return
			}
			r := o.Take(worker)
			for *r = 0; *r < task; *r++ { // tasks of different lengths
			}
			o.Give(worker, task, r)
		}
		if round%2 == 0 {
			all.Run(1000, do)
		} else {
			all.RunNear(1000, 1+round, do)
		}
		o.End()
		if !slices.Equal(got, want) {
			t.Fatalf("the order is %v", got)
		}
		for worker, w := range o.workers {
			if len(w.kept) > 0 {
				t.Errorf("%d results of worker %d are left", len(w.kept), worker)
			}
		}
	}
	all.Rest()
}

// RunNear does each task once, whoever is late.
func TestRunNearDoesEachTaskOnce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		all := team(t, n)
		for phase := range 400 {
			done, together := make([]atomic.Int32, 1+phase%70), 1+phase%5
			all.RunNear(len(done), together, func(worker, task int) {
				if worker < 0 || worker >= n {
					t.Errorf("worker %d of %d", worker, n)
				}
				done[task].Add(1)
				for range task % 7 * 100 {
					runtime.KeepAlive(done)
				}
			})
			for i := range done {
				if times := done[i].Load(); times != 1 {
					t.Fatalf("team of %d: task %d of %d was done %d times", n, i, len(done), times)
				}
			}
			if phase%40 == 13 {
				all.Rest()
			}
		}
		all.Rest()
	}
}

// A worker begins with the first group of its own.
func TestRunNearBeginsWithItsOwn(t *testing.T) {
	all := team(t, 2)
	for all.Size() == 1 {
		all.Resize(2) // a pause
	}
	both := make(chan struct{}, 2)
	var by [16]int
	all.RunNear(16, 2, func(worker, task int) {
		by[task] = worker
		if task == 0 || task == 2 { // the first of each
			both <- struct{}{}
			for len(both) < 2 {
				runtime.Gosched()
			}
		}
	})
	if by[0] != 0 || by[2] != 1 {
		t.Errorf("tasks 0 and 2 were done by workers %d and %d", by[0], by[2])
	}
	all.Rest()
}
