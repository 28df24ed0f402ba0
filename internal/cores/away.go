package cores

import "runtime"

// Go has a helper call f while the caller does something else. The caller may call Run meanwhile;
// the helper takes part in that once f has returned. f must not use t. If there is no core for a
// helper, or in a pause, Go calls f itself. The caller must call Wait before it does anything else
// that depends on f.
func (t *Team) Go(f func()) {
	t.Wait()
	if t == nil || t.paused > 0 || runtime.GOMAXPROCS(0) == 1 {
		f()
		return
	}
	t.have(1)
	t.away = true
	release(t.helpers[0].offer(f))
}

// Wait returns once the function of the last Go has returned. If no helper has begun it, Wait calls
// it. A panic of the function becomes one of the caller.
func (t *Team) Wait() {
	if t == nil || !t.away {
		return
	}
	t.away = false
	t.helpers[0].join()
}

// offer has h call f before it does other tasks. It reports whether it started a goroutine for
// that.
func (h *helper) offer(f func()) bool {
	h.f = f
	if h.state.Swap(offered) != absent {
		return false
	}
	go h.run()
	return true
}

// leave calls the function that was offered, and keeps a panic for the caller.
func (h *helper) leave() {
	defer func() {
		h.failure = recover()
		h.f = nil
		for {
			switch {
			case h.state.CompareAndSwap(away, idle), h.state.CompareAndSwap(wanted, called):
				return
			case h.state.CompareAndSwap(missed, idle):
				h.done <- struct{}{}
				return
			}
		}
	}()
	h.f()
}

// join waits until h has called the function that it was offered, or calls it.
func (h *helper) join() {
	if h.state.CompareAndSwap(offered, idle) {
		f := h.f
		h.f = nil
		f()
		return
	}
	for range waitSpins {
		if h.state.Load() != away {
			break
		}
	}
	if h.state.CompareAndSwap(away, missed) {
		<-h.done
	}
	if p := h.failure; p != nil {
		h.failure = nil
		panic(p)
	}
}
