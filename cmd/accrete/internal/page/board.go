package page

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/learner"
)

// Board collects what the page displays from the events of a learner, a scorer or both.
// Its memory is bounded. It is safe for concurrent use.
type Board struct {
	now func() time.Time

	mu      sync.Mutex
	learner bool // this process learns
	scorer  bool
	started time.Time
	role    string

	progress    learner.Progress
	limit       learner.Cap
	line        timeline.Timeline
	drifts      learner.Drifts
	counts      counts
	places      map[place]*partition
	latencies   ring[time.Duration]
	appends     ring[time.Duration]
	answers     ring[time.Duration] // to requests over HTTP
	history     ring[second]
	snapshots   ring[saved]
	notes       ring[note]
	bad         ring[invalid]
	shifted     shifted
	gone        int
	memoryLimit int64
	paused      string

	model   served // of the scorer
	choice  choice
	columns importances
}

// counts are the totals of this run.
type counts struct {
	learned, predicted, quarantined, skipped, lost int64

	published, snapshots, replayed int64

	scored, scorerQuarantined, scorerLost, models, requests int64
}

type place struct {
	topic     string
	partition int32
	scored    bool // read by the scorer
}

type partition struct {
	next, first, end, stable int64
	moved                    time.Time
}

type saved struct {
	at        time.Time // zero if unknown
	step      int64
	bytes     int64
	hash      string
	froze     time.Duration
	recovered bool // written before this start
}

type note struct {
	at    time.Time
	level string // info, warning or error
	text  string
	times int // how often it occurred
}

type invalid struct {
	at      time.Time
	where   string
	records int
	reason  string
	sample  string
}

type shifted struct {
	at      time.Time
	columns []string
}

type served struct {
	step    int64
	lineage string
	hash    string
	at      time.Time
}

// NewBoard returns an empty Board. now returns the current time.
func NewBoard(now func() time.Time) *Board {
	return &Board{
		now: now, started: now(), places: map[place]*partition{},
		latencies: ring[time.Duration]{most: timings}, appends: ring[time.Duration]{most: timings}, answers: ring[time.Duration]{most: timings},
		history: ring[second]{most: seconds}, snapshots: ring[saved]{most: mostRows}, notes: ring[note]{most: mostNotes}, bad: ring[invalid]{most: mostRows},
	}
}

// Cap sets the maximum number of random features.
func (b *Board) Cap(c learner.Cap) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = c
}

// Spark returns the history of the error as a curve of at most width characters, for a terminal.
func (b *Board) Spark(width int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return display.Sparkline(b.line.Model(), width)
}

// Tick adds a point to the small charts. It must be called once a second.
func (b *Board) Tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := second{records: b.counts.learned + b.counts.predicted + b.counts.quarantined, lag: b.lag(false), error: b.progress.Latest.Model.Error}
	if !b.learner {
		s.records, s.lag = b.counts.scored, b.lag(true)
	}
	b.history.add(s)
}

// rate returns the records per second, averaged over the last seconds.
func (b *Board) rate() float64 {
	h := b.history.values
	if len(h) < 2 {
		return 0
	}
	from := max(0, len(h)-1-average)
	return float64(h[len(h)-1].records-h[from].records) / float64(len(h)-1-from)
}

// lag returns the records that the learner or the scorer has not read.
func (b *Board) lag(scored bool) (records int64) {
	for p, at := range b.places {
		if p.scored == scored {
			records += max(0, at.end-at.next)
		}
	}
	return records
}

// note adds an event to the list. It only counts the event again if it repeats the last one, or one
// of the warnings at the end of the list: several parts of a program often report the same trouble
// in turn.
func (b *Board) note(level, text string) {
	text = Printable(text, 400)
	all := b.notes.values
	for i := len(all) - 1; i >= 0; i-- {
		if last := all[i]; last.text == text {
			last.times, last.at = last.times+1, b.now()
			b.notes.values = append(slices.Delete(all, i, i+1), last)
			return
		}
		if level != "warning" || all[i].level != level {
			break
		}
	}
	b.notes.add(note{at: b.now(), level: level, text: text, times: 1})
}

// place returns the state of a partition, which it adds if necessary.
func (b *Board) place(p place) *partition {
	if b.places[p] == nil {
		b.places[p] = new(partition)
	}
	return b.places[p]
}

// move sets the position in a partition.
func (b *Board) move(p place, next, first, end, stable int64) {
	at := b.place(p)
	if at.moved.IsZero() || at.next != next {
		at.moved = b.now()
	}
	at.next, at.first, at.end, at.stable = next, first, end, stable
}

// sorted returns the partitions in a fixed order.
func (b *Board) sorted() []place {
	return slices.SortedFunc(maps.Keys(b.places), func(x, y place) int {
		switch {
		case x.scored != y.scored && x.scored:
			return 1
		case x.scored != y.scored:
			return -1
		}
		return cmp.Or(strings.Compare(x.topic, y.topic), cmp.Compare(x.partition, y.partition))
	})
}
