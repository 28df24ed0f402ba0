package cores

import "sync/atomic"

// share counts the tasks of RunNear that belong to one worker.
type share struct {
	begun  atomic.Int64 // number of these tasks that have begun, in their order
	active atomic.Bool  // the worker has begun one of them
	_      [64]byte     // a cache line of its own
}

// RunNear is Run for tasks that use the same data as their neighbours, and that earlier and later
// phases use again. Tasks are in groups of together neighbours, and each worker begins with its own
// groups: those whose number is that of the worker, modulo the number of workers. So most of the
// data are still in the cache of its core. To get them from another core would take several times
// as long, and longer still if the cores have no cache in common.
//
// A worker takes part in the groups of another one if that one is late, or at the end. It leaves
// the last task of a worker that has begun its tasks to that worker, which is about to begin it.
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

// maxLead is the number of groups of its own by which a worker is ahead of another one before it
// takes over tasks of that one.
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

// nextOf returns the worker to which the next task of the given worker belongs. This is the given
// worker itself, unless it has no tasks left or those of another one are late. It returns -1 if no
// tasks are left to take.
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

// taskOf returns the task at a position, counted from 0, among the tasks that belong to a worker.
func (t *Team) taskOf(worker int, number int64) int64 {
	group, together := number/int64(t.together), int64(t.together)
	return (group*int64(t.near)+int64(worker))*together + number%together
}
