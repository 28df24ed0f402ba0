// Package cores divides the tasks of short computations among the cores.
package cores

import (
	"runtime"
	"sync/atomic"
)

// Team is a group of goroutines that do tasks together. It is for computations with many phases of
// some ten microseconds each, which is less than it takes to wake a core: between two phases, a
// helper waits actively, but not for long. The zero value is a team of one. A Team belongs to one
// goroutine at a time, which does tasks itself and never waits for a helper that has not begun.
type Team struct {
	size    int
	helpers []*helper
	f       func(worker, task int)
	tasks   int64
	whole   bool // the caller has done its tasks without a panic

	late   int  // consecutive Runs in which the caller blocked
	paused int  // Resizes until the pause ends
	away   bool // Go has been called, and Wait has not yet

	near     int // workers of a RunNear; 0 in a Run
	together int // tasks of a group
	shares   []*share

	_    [64]byte // next has a cache line of its own
	next atomic.Int64
	_    [64]byte
}

// Resize sets the number of goroutines, including that of the caller: n, but no more than
// GOMAXPROCS. In a pause it sets 1: if others use the cores, helpers get none, and waiting for them
// costs more than they contribute.
func (t *Team) Resize(n int) {
	if t.size = n; n <= 1 {
		return
	}
	t.size = min(n, runtime.GOMAXPROCS(0))
	if t.paused > 0 {
		t.size = 1
		t.paused--
	}
}

// maxLate is the number of consecutive Runs in which the caller blocks before a pause begins, as a
// single Run may just have long tasks. pause is the length of a pause in Resizes.
const maxLate, pause = 2, 16

// have makes sure that there are that many helpers.
func (t *Team) have(helpers int) {
	for len(t.helpers) < helpers {
		t.helpers = append(t.helpers, &helper{team: t, number: len(t.helpers) + 1, done: make(chan struct{}, 1)})
	}
}

// Start starts the helpers for a Run that follows soon: it takes some time until they begin.
func (t *Team) Start() {
	n, started := t.Size()-1, false
	t.have(n)
	for _, h := range t.helpers[:n] {
		started = h.start() || started
	}
	release(started)
}

// release has the scheduler release goroutines that were started. It keeps the one that was started
// last as the next one of this core, and lets other cores steal it only after a sleep. So release
// starts one more, which does nothing.
func release(started bool) {
	if started {
		go func() {}()
	}
}

// Size returns the number of goroutines. It is 1 for nil.
func (t *Team) Size() int {
	if t == nil {
		return 1
	}
	return max(1, t.size)
}

// Run calls f once for each of the tasks, which begin in order, and returns when all are done.
// worker is the number of the worker that does the task, below Size. A panic in a task becomes one
// of the caller.
func (t *Team) Run(tasks int, f func(worker, task int)) {
	n := min(t.Size(), tasks)
	if n <= 1 {
		for i := range tasks {
			f(0, i)
		}
		return
	}
	t.f, t.tasks = f, int64(tasks)
	t.next.Store(0)
	t.have(n - 1)
	started := false
	for _, h := range t.helpers[:n-1] {
		started = h.call() || started
	}
	release(started)
	t.whole = false
	defer t.finish(t.helpers[:n-1])
	t.work(0)
	t.whole = true
}

// work does tasks until none is left.
func (t *Team) work(worker int) {
	if t.near > 0 {
		t.workNear(worker)
		return
	}
	for i := t.next.Add(1) - 1; i < t.tasks; i = t.next.Add(1) - 1 {
		t.f(worker, int(i))
	}
}

// finish waits for the helpers that have begun.
func (t *Team) finish(helpers []*helper) {
	if !t.whole { // there was a panic
		t.next.Store(t.tasks)
	}
	var failure any
	blocked := false
	for _, h := range helpers {
		late, p := h.finish()
		if p != nil {
			failure = p
		}
		blocked = blocked || late
	}
	t.f = nil
	t.late++
	if !blocked {
		t.late = 0
	}
	if t.late == maxLate {
		t.late, t.size, t.paused = 0, 1, pause
	}
	if failure != nil {
		panic(failure)
	}
}

// Rest ends the helpers. The next Run starts them again.
func (t *Team) Rest() {
	for _, h := range t.helpers {
		h.state.CompareAndSwap(idle, dismissed)
	}
}
