package cores

import "sync/atomic"

// share is the tasks of RunNear that a worker begins with.
type share struct {
	begun  atomic.Int64 // of these tasks, in their order
	active atomic.Bool  // the worker has begun one of them
	_      [64]byte     // a cache line of its own
}

// RunNear is Run for tasks of which neighbours, as many as together, have data that earlier and
// later phases use, too: a worker begins with the groups whose number is its own, modulo Size,
// and takes part in those of others where these are late, or at the end, except in the last one
// of a worker that is about to begin it. So most of the data are still in the cache of its core.
// From another one they would take several times as long, and longer yet where the cores have no
// cache in common.
func (t *Team) RunNear(tasks, together int, f func(worker, task int)) {
	n := min(t.Size(), tasks)
	if n <= 1 {
		t.Run(tasks, f)
		return
	}
	for len(t.shares) < n {
		t.shares = append(t.shares, new(share))
	}
	for _, s := range t.shares {
		s.begun.Store(0)
		s.active.Store(false)
	}
	t.near, t.together = n, together
	defer func() { t.near = 0 }()
	t.Run(tasks, f)
}

// maxLead is the number of groups, times the workers, that a worker is ahead of another one
// before it takes part in the tasks of that one.
const maxLead = 2

// workNear does tasks of RunNear until none is left.
func (t *Team) workNear(worker int) {
	for t.next.Load() < t.tasks { // otherwise the caller has panicked
		of := t.nextOf(worker)
		if of < 0 {
			return
		}
		if i := t.taskOf(of, t.shares[of].begun.Add(1)-1); i < t.tasks {
			if own := t.shares[worker]; of == worker && !own.active.Load() {
				own.active.Store(true)
			}
			t.f(worker, int(i))
		}
	}
}

// nextOf returns the worker of whose tasks the given one takes the next: its own, unless there
// are none or those of another one are late; -1 if there are no more.
func (t *Team) nextOf(worker int) int {
	begun := t.shares[worker].begun.Load()
	of, first, lead := worker, t.taskOf(worker, begun), int64(maxLead*t.near*t.together)
	switch {
	case first >= t.tasks:
		of, lead = -1, 0
	case begun%int64(t.together) != 0: // within a group
		return worker
	}
	for other := range t.near {
		begun := t.shares[other].begun.Load()
		i := t.taskOf(other, begun)
		if other == worker || i >= t.tasks || i+lead >= first {
			continue
		}
		if t.shares[other].active.Load() && t.taskOf(other, begun+1) >= t.tasks {
			continue // its last one
		}
		of, first, lead = other, i, 0
	}
	return of
}

// taskOf returns the number of a task of those that a worker begins with.
func (t *Team) taskOf(worker int, number int64) int64 {
	group, together := number/int64(t.together), int64(t.together)
	return (group*int64(t.near)+int64(worker))*together + number%together
}
