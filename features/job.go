package features

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/internal/vec"
)

// job is one call of a Bank's method, cut into tasks whose number depends on
// the sizes alone, and the memory it takes. Workers take the tasks as they come:
// no two of them write the same number, so that who does which does not matter.
type job struct {
	bank            *Bank
	x               []float32 // the caller's
	dst             []float64 // the caller's: of Sum and Gradient
	features        []float32 // the caller's: of Features
	rows, outputs   int
	from, end       int       // frequencies asked for; of sums, from is the first panel
	padded          []float32 // coefficients with room before them, for a panel that begins earlier
	per             int       // panels in a task, of rows or of frequencies
	px, pcoef, pfac []float32 // packed rows, coefficients and factors
	coef            []float32 // of the frequencies that are ready
	partial         []float64 // groups x rows x outputs
	total           []float64 // rows x outputs, in panels of rows

	w, pw      []float32 // panels first to to, which are ready; memory for those that are not kept
	first, to  int
	packed     []float32 // by the tasks of pack: panels from frequency packedFrom on
	packedFrom int
	block      int

	task    func(*job, *worker, int)
	tasks   int
	next    atomic.Int64
	wait    sync.WaitGroup
	workers []*worker
}

// worker is what one goroutine of a job needs for itself.
type worker struct {
	vec.Scratch
	source Source
	x      []float32 // packed rows
	w      []float32 // frequencies
	t      []float32 // phases
	acc    []float32
	sum    []float64
	run    func()
}

// perWorker is how many multiply-adds are worth another goroutine: about what a
// core with vectors does while another one that sleeps is woken.
const perWorker = 1 << 22

// run does the tasks; cost is the number of multiply-adds in all of them. The
// last goroutine that it starts is one too many: that one stays next in line on
// this core, whence the scheduler lets others steal only after a sleep, and so
// the ones before it are taken at once (d=123, 64 rows, 5,120 frequencies, two
// cores: the second begins after 40 µs instead of 110).
func (j *job) run(task func(*job, *worker, int), tasks, cost int) {
	n := max(1, min(tasks, runtime.GOMAXPROCS(0), cost/perWorker))
	if n > 1 {
		n++
	}
	for len(j.workers) < n {
		w := new(worker)
		w.run = func() {
			j.work(w)
			j.wait.Done()
		}
		j.workers = append(j.workers, w)
	}
	j.task, j.tasks = task, tasks
	j.next.Store(0)
	j.wait.Add(n - 1)
	for _, w := range j.workers[1:n] {
		go w.run()
	}
	j.work(j.workers[0])
	j.wait.Wait()
}

func (j *job) work(w *worker) {
	for i := int(j.next.Add(1)) - 1; i < j.tasks; i = int(j.next.Add(1)) - 1 {
		j.task(j, w, i)
	}
}

// job returns one that no other call uses.
func (b *Bank) job() *job {
	select {
	case j := <-b.idle:
		j.bank = b
		return j
	default:
		return &job{bank: b}
	}
}

// done gives the job's memory back for other calls.
func (j *job) done() {
	b := j.bank
	j.bank, j.x, j.dst, j.features, j.w, j.packed, j.coef = nil, nil, nil, nil, nil, nil, nil
	select {
	case b.idle <- j:
	default:
	}
}

// sized is s with the length n; what it holds is undefined.
func sized[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	*s = (*s)[:n]
	return *s
}

// share is how many of n panels a task takes: there should be eight tasks, of
// no more than most panels.
func share(n, most int) int { return max(1, min(most, n/8)) }
