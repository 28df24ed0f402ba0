package cores

import "sync/atomic"

// Order adds up the results of tasks in the order of the tasks, whichever is done first. No worker
// waits for another one: each keeps results that are too early, and adds them once the others have
// added what comes before. So a result stays in the cache of the core that has computed it. The
// zero value is ready to use, and keeps memory for the next sum.
type Order[T any] struct {
	add     func(*T)
	workers []*orderWorker[T]

	_    [64]byte // turn has a cache line of its own
	turn atomic.Int64
	_    [64]byte
}

// orderWorker is the state of one worker in an Order.
type orderWorker[T any] struct {
	kept []result[T] // that are not added yet
	free []*T
	_    [64]byte
}

// result is the result of a task; of is nil if the task has none.
type result[T any] struct {
	task int
	of   *T
}

// Begin prepares o for another sum by that many workers, beginning with task 0. add adds a result
// to the sum.
func (o *Order[T]) Begin(workers int, add func(*T)) {
	for len(o.workers) < workers {
		o.workers = append(o.workers, new(orderWorker[T]))
	}
	for _, w := range o.workers { // a panic may have left some
		w.kept = w.kept[:0]
	}
	o.add = add
	o.turn.Store(0)
}

// Take returns memory for the result of a task. Its contents are undefined.
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

// Give hands over r, the result of a task of a worker, to be added when it is its turn. r no longer
// belongs to the caller. A nil r stands for a task without a result.
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
