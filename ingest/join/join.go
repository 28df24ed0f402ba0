// Package join joins features with the labels that come later, by key and event time.
//
// A Join is a state machine: it depends on the records and their order alone, and reads no
// clock. Its time is the largest one that its records have had. Features wait until their
// label comes or their time is over; labels that come before their features wait likewise;
// and keys that are done are remembered until they expire, so that further labels are known
// to be duplicates, contradictions, or late. Each of the three is bounded by Config.Pending,
// beyond which the first to expire goes.
package join

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/learner"
)

// Event is a row that was predicted and waits for its label.
type Event struct {
	Key    string    // of the row, as the learner knows it
	X      []float64 // values as they were
	Weight float64
	Class  int       // that was decided for; -1: none. Like Kept, it is set by the caller
	Kept   []float64 // what grading the prediction takes

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
	timeout learner.Label // of features without a label; none: they are dropped

	clock   int64 // largest time; math.MinInt64 before the first record
	ahead   int64 // the least of the successive times too far ahead of clock; 0: none
	behind  int64 // number of successive times too far behind clock, or of those too far ahead as a negative number
	seq     int64 // of the next entry
	entries map[string]*entry
	queues  [kinds]queue
	counts  Counts

	bytes int64 // of the keys and values of all entries, without what is kept of predictions
}

// confirmations is the number of successive times far from that of a Join after which it goes
// there. A slow partition may have a few that are behind, and going back for it only delays what
// expires. A producer with a wrong clock may have a few that are ahead, and what has expired by
// them does not come back.
const confirmations = 8

// kind is what an entry is.
type kind uint8

const (
	waiting kind = iota // features without a label
	early               // a label without features
	done                // a key that has its label, or is out of time
	kinds
)

type entry struct {
	key   string
	kind  kind
	until int64 // time after which it expires
	seq   int64
	at    int // place in its queue

	event   *Event        // of waiting
	label   learner.Label // of early
	time    int64         // of the label of early
	learned uint64        // of done: digest of the label; 0: it is out of time
}

// New returns a Join without any records.
func New(c Config) *Join {
	return &Join{config: c, clock: math.MinInt64, entries: map[string]*entry{}}
}

// SetTimeout sets the label of features that have got none within the TTL, and without
// which they are dropped.
func (j *Join) SetTimeout(y learner.Label) { j.timeout = y }

// Advance moves the time of the Join to that of the next record. It returns the examples of
// features whose time is over, with the label for these, the first to expire first.
//
// A time that is further ahead than everything that waits would last, as a single wrong
// clock may produce, counts only with confirmations of them in succession, and as the least of
// these. After as many successive times that are as far behind, the time of the Join is the last
// of them: what had put it ahead was wrong.
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

// expire ends an entry whose time is over.
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

// add adds an entry. If its queue is full, the first to expire goes.
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

// Features has the features of a record wait for their label. If the label is there already,
// it returns it. repeated reports that the key has features already, which count.
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

// Labelled notes features that have come with their label. They take the place of what waits
// with the same key.
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

// Label takes a label. It returns the features that it belongs to, if they wait, or the kind
// of a label that is not to be learned; neither if it waits for its features.
func (j *Join) Label(key string, at int64, y learner.Label) (e *Event, kind string) {
	was := j.entries[key]
	switch {
	case was == nil:
		y.More = append([]float64(nil), y.More...)
		j.add(&entry{key: key, kind: early, until: at + j.config.TTL + j.config.Grace, label: y, time: at})
		return nil, ""
	case was.kind == waiting && at > was.event.Time+j.config.TTL:
		j.counts.Late++ // and the features go on waiting for one that is not
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

// digest returns a hash of a label, which is not 0.
func digest(y learner.Label) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, uint64(y.Task))
	b = binary.LittleEndian.AppendUint64(b, uint64(y.Class))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(y.Value))
	for _, v := range y.More {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return max(1, xxhash.Sum64(b))
}
