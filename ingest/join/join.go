// Package join joins features with the labels that come later, by key and event time.
//
// A Join is a state machine: it depends only on the records and their order, and reads no
// clock. Its time is the largest time of its records, except that single times far ahead do
// not count (see Advance). It holds three kinds of entries:
//
//   - Features wait until their label comes or they expire.
//   - Labels that come before their features wait until the features come or they expire.
//   - Keys that are done are remembered until they expire, so that further labels are known
//     to be duplicates, contradictions, or late.
//
// The number of each kind is bounded by Config.Pending. Beyond it, the entry that would expire
// first is dropped.
package join

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/learner"
)

// Event is a row that was predicted and waits for its label.
type Event struct {
	Key    string    // key of the row, for the learner
	X      []float64 // values of the row at the time of the prediction
	Weight float64
	Class  int       // predicted class; -1: none; set by the caller, as is Kept
	Kept   []float64 // what the learner needs to grade the prediction

	Time int64 // of the features, milliseconds since 1970
}

// Example is an Event with its label.
type Example struct {
	*Event
	Label learner.Label
}

// Join is the state of a join.
type Join struct {
	config  Config
	timeout learner.Label // label for features that expire without one; if unset, they are dropped

	clock   int64 // largest time; math.MinInt64 before the first record
	ahead   int64 // smallest of the successive times too far ahead of clock; 0: none
	behind  int64 // number of successive times too far behind clock; negative: number of those too far ahead
	seq     int64 // sequence number of the next entry
	entries map[string]*entry
	queues  [kinds]queue
	counts  Counts

	bytes int64 // size of the keys and values of all entries, without Event.Kept
}

// confirmations is the number of successive times far from the time of a Join after which the
// Join adopts them. A slow partition may deliver a few times that are far behind; going back to
// them only delays expiry. A producer with a wrong clock may deliver a few times that are far
// ahead; entries that expire because of them are lost.
const confirmations = 8

// kind is the kind of an entry.
type kind uint8

const (
	waiting kind = iota // features without a label
	early               // a label without features
	done                // a key that has its label, or whose features have expired
	kinds
)

type entry struct {
	key   string
	kind  kind
	until int64 // time after which it expires
	seq   int64
	at    int // place in its queue

	event   *Event        // for waiting
	label   learner.Label // for early
	time    int64         // for early: time of the label
	learned uint64        // for done: digest of the label; 0: none came in time
}

// New returns a Join without any records.
func New(c Config) *Join {
	return &Join{config: c, clock: math.MinInt64, entries: map[string]*entry{}}
}

// SetTimeout sets the label for features that have received none within the TTL. Without
// SetTimeout, such features are dropped.
func (j *Join) SetTimeout(y learner.Label) { j.timeout = y }

// Advance moves the time of the Join to that of the next record. It returns an example for
// each of the features that expire, with the label of SetTimeout, the first to expire first.
//
// A single wrong clock may produce a time that is more than TTL and Grace ahead. Such a time is
// ignored until there are confirmations of them in succession; the time of the Join then becomes
// the smallest of them. After as many successive times that are as far behind, the time of the
// Join becomes the last of them, because the time that put it ahead must have been wrong.
func (j *Join) Advance(to int64) (over []Example) {
	far := j.config.TTL + j.config.Grace
	switch {
	case j.clock == math.MinInt64:
		j.clock = to
	case j.clock-to > far:
		if j.behind = max(j.behind, 0) + 1; j.behind == confirmations {
			j.clock, j.behind = to, 0
		}
		j.ahead = 0
		return nil
	case to-j.clock > far:
		if j.behind >= 0 {
			j.behind, j.ahead = 0, to
		}
		j.behind--
		j.ahead = min(j.ahead, to)
		if j.behind > -confirmations {
			return nil
		}
		to = j.ahead
		fallthrough
	default:
		j.clock = max(j.clock, to)
	}
	j.ahead, j.behind = 0, 0
	for k := range j.queues {
		q := &j.queues[k]
		for len(*q) > 0 && (*q)[0].until < j.clock {
			over = append(over, j.expire((*q)[0])...)
		}
	}
	return over
}

// expire removes an entry that has expired, and returns the example that it becomes, if any.
func (j *Join) expire(e *entry) (over []Example) {
	j.drop(e)
	switch e.kind {
	case waiting:
		j.counts.TimedOut++
		if j.timeout.Task != learner.Auto {
			over = []Example{{e.event, j.timeout}}
		}
		j.add(&entry{key: e.key, kind: done, until: e.until + j.config.TTL})
	case early:
		j.counts.Unmatched++
	}
	return over
}

// drop removes an entry.
func (j *Join) drop(e *entry) {
	j.bytes -= e.bytes()
	j.queues[e.kind].remove(e)
	delete(j.entries, e.key)
}

// add adds an entry. If its queue is full, it drops the entry that would expire first.
func (j *Join) add(e *entry) {
	q := &j.queues[e.kind]
	if len(*q) == j.config.Pending {
		first := (*q)[0]
		j.drop(first)
		switch e.kind {
		case waiting:
			j.counts.Evicted++
			j.add(&entry{key: first.key, kind: done, until: first.until})
		case early:
			j.counts.Unmatched++
		}
	}
	e.seq = j.seq
	j.seq++
	j.entries[e.key] = e
	q.push(e)
	j.bytes += e.bytes()
}

// Features adds the features of a record, which then wait for their label. If the label has
// already come, Features returns it instead. repeated reports that the key already has features,
// or is done; the new features are then ignored.
func (j *Join) Features(key string, e *Event) (label learner.Label, repeated bool) {
	until := e.Time + j.config.TTL + j.config.Grace
	was := j.entries[key]
	switch {
	case was == nil:
		j.add(&entry{key: key, kind: waiting, until: until, event: e})
		return label, false
	case was.kind != early:
		j.counts.Repeated++
		return label, true
	}
	j.drop(was)
	if was.time > e.Time+j.config.TTL {
		j.counts.Late++
		j.add(&entry{key: key, kind: done, until: until})
		return label, false
	}
	j.counts.Matched++
	j.add(&entry{key: key, kind: done, until: until, learned: digest(was.label)})
	return was.label, false
}

// Labelled records a key whose features have come together with their label. It replaces
// features or a label that wait with the same key.
func (j *Join) Labelled(key string, at int64, y learner.Label) {
	switch was := j.entries[key]; {
	case was == nil:
	case was.kind == early:
		j.drop(was)
		if digest(was.label) == digest(y) {
			j.counts.Duplicate++
		} else {
			j.counts.Contradicting++
		}
	case was.kind == waiting:
		j.drop(was)
		j.counts.Repeated++
	default:
		j.counts.Repeated++
		return
	}
	j.add(&entry{key: key, kind: done, until: at + j.config.TTL + j.config.Grace, learned: digest(y)})
}

// Label adds a label. If its features are waiting, Label returns them. If the label must not be
// learned, Label returns its kind. Otherwise it returns neither, and the label waits for its
// features.
func (j *Join) Label(key string, at int64, y learner.Label) (e *Event, kind string) {
	was := j.entries[key]
	switch {
	case was == nil:
		y.More = append([]float64(nil), y.More...)
		j.add(&entry{key: key, kind: early, until: at + j.config.TTL + j.config.Grace, label: y, time: at})
		return nil, ""
	case was.kind == waiting && at > was.event.Time+j.config.TTL:
		j.counts.Late++ // the features continue to wait for a label that is in time
		return nil, LateLabel
	case was.kind == waiting:
		j.drop(was)
		j.counts.Matched++
		j.add(&entry{key: key, kind: done, until: was.until, learned: digest(y)})
		return was.event, ""
	case was.kind == done && was.learned == 0:
		j.counts.Late++
		return nil, LateLabel
	}
	has := was.learned
	if was.kind == early {
		has = digest(was.label)
	}
	if has == digest(y) {
		j.counts.Duplicate++
		return nil, DuplicateLabel
	}
	j.counts.Contradicting++
	return nil, ContradictingLabel
}

// Rejects reports whether labels of a kind go to quarantine.
func (j *Join) Rejects(kind string) bool { return j.config.rejects(kind) }

// digest returns a hash of a label, which is never 0.
func digest(y learner.Label) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, uint64(y.Task))
	b = binary.LittleEndian.AppendUint64(b, uint64(y.Class))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(y.Value))
	for _, v := range y.More {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return max(1, xxhash.Sum64(b))
}
