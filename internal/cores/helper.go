package cores

import "sync/atomic"

// helper is a goroutine of a Team. It ends when no task has come for a while.
type helper struct {
	team   *Team
	number int
	panic  any           // of its last tasks
	done   chan struct{} // wakes the caller if it has blocked

	f       func() // of Team.Go, until it has returned
	failure any    // the value that it panicked with

	_     [64]byte // state has a cache line of its own
	state atomic.Int32
	_     [64]byte
}

// The states of a helper. The helper itself changes called to working, working and awaited to idle,
// idle and dismissed to absent, offered to away, away and missed to idle, and wanted to called. The
// caller makes all other changes.
const (
	absent    = iota // there is no goroutine
	idle             // it waits for tasks
	called           // there are tasks
	working          // it does tasks
	awaited          // it does tasks, and the caller has blocked until they are done
	dismissed        // it is to end
	offered          // there is a function of Team.Go
	away             // it calls that function
	wanted           // it calls that function, and there are tasks
	missed           // it calls that function, and the caller has blocked until it returns
)

// waitSpins is the number of times that a helper looks for tasks before it ends: about 20 µs, which
// is less than it takes to wake a core. finishSpins is the number of times that the caller looks
// for the end of a helper before it blocks: about 200 µs, as the last task of a helper may take
// that long.
const waitSpins, finishSpins = 24_000, 720_000

// start starts h, if it has ended, so that it is there for tasks that follow soon. It reports
// whether it started a goroutine for that.
func (h *helper) start() bool {
	h.state.CompareAndSwap(dismissed, idle)
	if !h.state.CompareAndSwap(absent, idle) {
		return false
	}
	go h.run()
	return true
}

// call tells h that there are tasks. It reports whether it started a goroutine for that.
func (h *helper) call() bool {
	for {
		switch now := h.state.Load(); now {
		case offered: // it calls the function first
			return false
		case away:
			if h.state.CompareAndSwap(away, wanted) {
				return false
			}
		default:
			if !h.state.CompareAndSwap(now, called) {
				continue
			}
			if now == absent {
				go h.run()
			}
			return now == absent
		}
	}
}

// run does the tasks of its Team, again and again, until there have been none for a while.
func (h *helper) run() {
	for left := waitSpins; ; left-- {
		switch h.state.Load() {
		case called:
			if h.state.CompareAndSwap(called, working) {
				h.work()
				left = waitSpins
			}
		case offered:
			if h.state.CompareAndSwap(offered, away) {
				h.leave()
				left = waitSpins
			}
		case dismissed:
			if h.state.CompareAndSwap(dismissed, absent) {
				return
			}
		case idle:
			if left <= 0 && h.state.CompareAndSwap(idle, absent) {
				return
			}
		}
	}
}

// work does tasks until none is left, and keeps a panic for the caller.
func (h *helper) work() {
	defer func() {
		h.panic = recover()
		if h.state.Swap(idle) == awaited {
			h.done <- struct{}{}
		}
	}()
	h.team.work(h.number)
}

// finish waits until h has done the tasks that it has begun. It reports whether the caller
// has blocked, and the value that h panicked with, if it did.
func (h *helper) finish() (blocked bool, failure any) {
	for begun := false; !begun; {
		switch h.state.Load() {
		case called:
			if h.state.CompareAndSwap(called, idle) {
				return false, nil
			}
		case wanted:
			if h.state.CompareAndSwap(wanted, away) {
				return false, nil
			}
		default:
			begun = true
		}
	}
	for range finishSpins {
		if h.state.Load() != working {
			return false, h.take()
		}
	}
	if h.state.CompareAndSwap(working, awaited) {
		<-h.done
		blocked = true
	}
	return blocked, h.take()
}

// take returns the value that h panicked with, once.
func (h *helper) take() any {
	p := h.panic
	h.panic = nil
	return p
}
