package cores

import "sync"

// Order adds up what tasks have computed in the order of the tasks, whichever is done first.
// No worker waits for another one: what is done too early is added by the worker that does
// the task before it. The zero value is ready to use, and keeps memory for the next sum.
type Order[T any] struct {
	add func(*T)

	mu     sync.Mutex
	adding bool       // one of the workers adds
	next   int        // the first task whose result is not added yet
	early  map[int]*T // results that are not added yet
	free   []*T
}

// Begin prepares o for another sum, from task 0 on, in which add adds a result.
func (o *Order[T]) Begin(add func(*T)) {
	o.add, o.next, o.adding = add, 0, false
	clear(o.early)
}

// Take returns memory for the result of a task. Its contents are those of some other task.
func (o *Order[T]) Take() *T {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := len(o.free) - 1
	if last < 0 {
		return new(T)
	}
	r := o.free[last]
	o.free = o.free[:last]
	return r
}

// Give adds r, the result of a task, which no longer belongs to the caller, at its place. A
// nil r is a task without a result.
func (o *Order[T]) Give(task int, r *T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.adding || task != o.next {
		if o.early == nil {
			o.early = map[int]*T{}
		}
		o.early[task] = r
		return
	}
	o.adding = true
	for ok := true; ok; r, ok = o.early[o.next] {
		delete(o.early, o.next)
		if r != nil {
			o.addUnlocked(r)
			o.free = append(o.free, r)
		}
		o.next++
	}
	o.adding = false
}

// addUnlocked adds r while other workers can leave results.
func (o *Order[T]) addUnlocked(r *T) {
	o.mu.Unlock()
	defer o.mu.Lock()
	o.add(r)
}
