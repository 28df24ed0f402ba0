package cores

import "sync/atomic"

// Order adds up what tasks have computed in the order of the tasks, whichever is done first.
// No worker waits for another one: each keeps what is done too early, and adds it once the
// others have added what comes before. So what a task has computed stays in the cache of its
// core. The zero value is ready to use, and keeps memory for the next sum.
type Order[T any] struct {
	add     func(*T)
	workers []*orderWorker[T]

	_    [64]byte // turn has a cache line of its own
	turn atomic.Int64
	_    [64]byte
}

// orderWorker is what a worker has of an Order.
type orderWorker[T any] struct {
	kept []result[T] // that are not added yet
	free []*T
	_    [64]byte
}

// result is what a task has computed; nil is nothing.
type result[T any] struct {
	task int
	of   *T
}

// Begin prepares o for another sum, from task 0 on, by that many workers, in which add adds a
// result.
func (o *Order[T]) Begin(workers int, add func(*T)) {
	for len(o.workers) < workers {
		o.workers = append(o.workers, new(orderWorker[T]))
	}
	for _, w := range o.workers { // after a panic, there are some
		w.kept = w.kept[:0]
	}
	o.add = add
	o.turn.Store(0)
}

// Take returns memory for the result of a task. Its contents are those of some other task.
func (o *Order[T]) Take(worker int) *T {
	w := o.workers[worker]
	last := len(w.free) - 1
	if last < 0 {
		return new(T)
	}
	r := w.free[last]
	w.free = w.free[:last]
	return r
}

// Give adds r, the result of a task of that worker, at its place, and no longer belongs to the
// caller. A nil r is a task without a result.
func (o *Order[T]) Give(worker, task int, r *T) {
	w := o.workers[worker]
	w.kept = append(w.kept, result[T]{task, r})
	for o.addNext(w) {
	}
}

// addNext adds the result whose turn it is, if w has it.
func (o *Order[T]) addNext(w *orderWorker[T]) bool {
	turn := int(o.turn.Load())
	for i, r := range w.kept {
		if r.task != turn {
			continue
		}
		if r.of != nil {
			o.add(r.of)
			w.free = append(w.free, r.of)
		}
		last := len(w.kept) - 1
		w.kept[i], w.kept[last] = w.kept[last], result[T]{}
		w.kept = w.kept[:last]
		o.turn.Store(int64(turn) + 1)
		return true
	}
	return false
}

// End adds the results that are left, once all tasks are done.
func (o *Order[T]) End() {
	for left := true; left; {
		left = false
		for _, w := range o.workers {
			for o.addNext(w) {
				left = true
			}
		}
	}
}
