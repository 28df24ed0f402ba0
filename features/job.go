package features

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/internal/vec"
)

// job is one call of a Bank's method, divided into tasks, and the memory for it.
// The number of tasks depends on the sizes alone, and no two of them write the
// same number: it does not matter which worker does which.
type job struct {
	bank     *Bank
	x        []float32 // the caller's rows
	dst      []float64 // the caller's result: of Sum and Gradient
	features []float32 // the caller's result: of Features

	held         *Held
	cache        *Cache      // the caller's
	ahead        *ahead      // of cache, if it keeps the phases of these rows
	team         *cores.Team // the caller's, which does the tasks; nil: goroutines of this job
	rows, scores int
	from, end    int // range of the frequencies asked for; in sums, from is the first panel
	perTask      int // panels in a task, of rows or of frequencies
	together     int // argument of Team.RunNear; 0: the team uses Run

	padded        []float32 // coefficients with zeros before them, up to the start of a panel
	packedX       []float32
	coordinates   []vec.Coordinates // of the panels of packedX
	packedCoef    []float32
	givenCoef     []float32 // the caller's, if it has packed them
	panelCoef     []float32 // packedCoef or givenCoef
	packedFactors []float32
	coef          []float32 // coefficients of the loaded frequencies
	weightedCoef  []float32
	prepared      []float64 // rows of a Featured kernel
	long          int       // length of a prepared row
	columns       []float64 // coefficients or factors for a Featured kernel, by score
	partial       []float64 // groups x rows x scores
	total         []float64 // rows x scores, in panels of rows

	w, generated []float32 // the loaded panels [first, to); memory for panels that are not stored
	first, to    int

	packed      []float32 // destination of pack, which begins with frequency firstPacked
	firstPacked int
	block       int  // first block of pack
	growing     bool // pack sets the weights of the blocks, too

	task    func(*job, *worker, int)
	inTeam  func(worker, i int) // does a task
	tasks   int
	next    atomic.Int64
	wait    sync.WaitGroup
	workers []*worker
}

// worker is the memory of one goroutine of a job.
type worker struct {
	vec.Scratch
	source      kernel.Source
	x           []float32 // packed rows
	frequencies []float32
	phase       []float32
	acc         []float32
	sum         []float64
	own         own       // parameters of a Featured kernel
	products    []float32 // of a linear one, vectors × rows
	pairs       []float64 // rows × 2 features
	turned      []float64 // products of a row
	byFeature   []float64 // pairs of a run of rows, 2 features × rows
	run         func()
}

// goroutineCost is the number of multiply-adds that justify another goroutine: about as many as a
// core with vector instructions does in the time that it takes to wake another core.
const goroutineCost = 1 << 22

// run does the tasks; cost is the number of multiply-adds in all of them. It starts one goroutine
// more than it needs. The scheduler keeps the goroutine that was started last as the next one of
// this core, and lets other cores steal it only after a sleep; other cores take the earlier ones at
// once (d=123, 64 rows, 5,120 frequencies, two cores: the second begins after 40 µs instead of
// 110).
func (j *job) run(task func(*job, *worker, int), tasks, cost int) {
	n := j.goroutines(tasks, cost)
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
	if j.team != nil {
		if j.inTeam == nil {
			j.inTeam = func(worker, i int) { j.task(j, j.workers[worker], i) }
		}
		if j.together > 0 {
			j.team.RunNear(tasks, j.together, j.inTeam)
		} else {
			j.team.Run(tasks, j.inTeam)
		}
		return
	}
	j.next.Store(0)
	j.wait.Add(n - 1)
	for _, w := range j.workers[1:n] {
		go w.run()
	}
	j.work(j.workers[0])
	j.wait.Wait()
}

// goroutines returns the number of goroutines that tasks with that many multiply-adds justify,
// or that the team has.
func (j *job) goroutines(tasks, cost int) int {
	if j.team != nil {
		return min(tasks, j.team.Size())
	}
	return max(1, min(tasks, runtime.GOMAXPROCS(0), cost/goroutineCost))
}

// work does tasks until none is left.
func (j *job) work(w *worker) {
	for i := int(j.next.Add(1)) - 1; i < j.tasks; i = int(j.next.Add(1)) - 1 {
		j.task(j, w, i)
	}
}

// cost returns the number of multiply-adds for rows and panels of frequencies: Dim for the phase,
// twelve for cosine and sine, and two for each score.
func (j *job) cost(rows, panels, scores int) int {
	return rows * panels * vec.Panel * (j.bank.m.Dim + 12 + 2*scores)
}

// panelsPerTask returns the number of panels of a task, so that n panels become about eight tasks,
// but no task has more than most panels.
func panelsPerTask(n, most int) int { return max(1, min(most, n/8)) }

// job returns a job that no other call uses.
func (b *Bank) job() *job {
	select {
	case j := <-b.idle:
		j.bank = b
		return j
	default:
		return &job{bank: b}
	}
}

// release lets other calls use the memory of j.
func (j *job) release() {
	b := j.bank
	j.bank, j.x, j.dst, j.features, j.w, j.packed, j.coef = nil, nil, nil, nil, nil, nil, nil
	j.givenCoef, j.panelCoef = nil, nil
	j.held, j.cache, j.ahead, j.team = nil, nil, nil, nil
	select {
	case b.idle <- j:
	default:
	}
}

// resize returns s with the length n and undefined contents.
func resize[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	*s = (*s)[:n]
	return *s
}
