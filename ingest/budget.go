package ingest

import (
	"context"
	"sync"
	"unsafe"
)

// A Budget bounds the memory of records that have been read and not yet released,
// independently of the number of partitions and of the compression ratio. One Poll
// at a time decompresses, and only while there is room. A batch that is larger
// than the whole budget is read alone, when no other records are held. A Budget is
// safe for concurrent use.
//
// A goroutine that releases records must not wait for a Poll with the same budget,
// because that Poll may wait for the release. The exception is a Fetcher of Sharing,
// whose Poll releases the caller's records first.
type Budget struct {
	limit int64
	whole *Budget // the Budget that this one is a part of; nil if it is not a part

	mu      sync.Mutex
	busy    bool  // a Poll decompresses, or waits for everything to be released
	held    int64 // bytes held by records
	waiting int64 // bytes of the responses that wait for their turn
	most    int64 // maximum of held + waiting
	changed chan struct{}
}

// NewBudget returns a Budget of the given number of bytes.
func NewBudget(bytes int64) *Budget {
	return &Budget{limit: bytes, changed: make(chan struct{})}
}

// Part returns a Budget of one n-th of b, at least 1 byte. It is for a reader that must not
// have to wait until other readers release their records. b.Most includes the bytes of the
// parts.
func (b *Budget) Part(n int) *Budget {
	p := NewBudget(max(1, b.limit/int64(max(1, n))))
	p.whole = b
	return p
}

// Most returns the largest number of bytes that were in memory at any time: the
// records held, and the responses of brokers that waited to be read. It exceeds the
// budget if a larger batch was read alone, and by the responses that arrived while
// the budget was used up.
func (b *Budget) Most() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most
}

// Release returns bytes to the budget: Fetched.Held, once none of its records is in
// use.
func (b *Budget) Release(bytes int64) {
	b.count(-bytes, 0)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell()
}

// count adds held and waiting to the byte counts of b, and of the Budget that it is a part of.
func (b *Budget) count(held, waiting int64) {
	for ; b != nil; b = b.whole {
		b.mu.Lock()
		b.held += held
		b.waiting += waiting
		b.most = max(b.most, b.held+b.waiting)
		b.mu.Unlock()
	}
}

func (b *Budget) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// wait returns once ok, which is called with the lock held, returns true. Before it
// waits it calls drop, if not nil, for as long as that releases something.
func (b *Budget) wait(ctx context.Context, drop, ok func() bool) error {
	b.mu.Lock()
	for !ok() {
		changed := b.changed
		b.mu.Unlock()
		if drop != nil && drop() {
			b.mu.Lock()
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		b.mu.Lock()
	}
	b.mu.Unlock()
	return nil
}

// enter waits for its turn to decompress and for room, and returns how many bytes
// are free.
func (b *Budget) enter(ctx context.Context, drop func() bool) (room int64, err error) {
	err = b.wait(ctx, drop, func() bool {
		if b.busy || b.held >= b.limit {
			return false
		}
		b.busy, room = true, b.limit-b.held
		return true
	})
	return room, err
}

// alone waits until nothing is held. It may only be called between enter and
// leave.
func (b *Budget) alone(ctx context.Context, drop func() bool) error {
	return b.wait(ctx, drop, func() bool { return b.held == 0 })
}

// leave ends the turn that enter began. bytes is the memory of the records read.
func (b *Budget) leave(bytes int64) {
	b.count(bytes, 0)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = false
	b.tell()
}

// arrives adds bytes to the size of the responses that wait for their turn. bytes is
// negative for a response that no longer waits.
func (b *Budget) arrives(bytes int64) { b.count(0, bytes) }

// recordBytes is the memory of a record without its key, value and headers.
const recordBytes = int64(unsafe.Sizeof(Record{}))

// Within returns a copy of f whose Poll keeps to a budget.
func (f *Fetcher) Within(b *Budget) *Fetcher {
	g := *f
	g.budget = b
	return &g
}

// Sharing returns a copy of f whose Poll keeps to a budget. Before Poll waits for
// room, it calls drop, which releases records that the caller itself holds, or
// returns false if the caller holds none.
func (f *Fetcher) Sharing(b *Budget, drop func() bool) *Fetcher {
	g := f.Within(b)
	g.drop = drop
	return g
}

// scan reads the batches of a response, within the budget if there is one.
func (f *Fetcher) scan(ctx context.Context, from int64, raw []byte, aborted []abortedTransaction) (*scan, error) {
	s := newScan(from, aborted)
	if f.budget == nil {
		return s, s.set(raw)
	}
	f.budget.arrives(int64(len(raw)))
	room, err := f.budget.enter(ctx, f.drop)
	f.budget.arrives(-int64(len(raw)))
	if err != nil {
		return s, err
	}
	defer func() { f.budget.leave(s.held) }()
	s.room, s.answer, s.most = room, int64(len(raw)), int(max(1, min(enoughCells, room/recordBytes)))
	if err = s.set(raw); err != errNoRoom {
		s.hold(raw)
		return s, err
	}
	if err := f.budget.alone(ctx, f.drop); err != nil {
		return s, err
	}
	s = newScan(from, aborted)
	s.single = true
	err = s.set(raw)
	s.hold(raw)
	return s, err
}

// hold computes the memory that the records keep allocated.
func (s *scan) hold(raw []byte) {
	s.held = int64(s.bytes) + int64(len(s.records))*recordBytes
	if s.plain {
		s.held += int64(len(raw))
	}
}
