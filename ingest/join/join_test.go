package join

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// slow is the join as a list of what waits, searched from one end to the other.
type slow struct {
	c      Config
	began  bool
	clock  int64
	ahead  []int64
	behind int
	seq    int64
	all    []*slowEntry
	counts Counts
}

type slowEntry struct {
	key        string
	kind       string // "features", "label" or "done"
	until, seq int64
	at         int64 // of the features or the label
	label      int   // class; -1: out of time
}

func (s *slow) find(key string) *slowEntry {
	for _, e := range s.all {
		if e.key == key {
			return e
		}
	}
	return nil
}

func (s *slow) drop(e *slowEntry) {
	s.all = slices.DeleteFunc(s.all, func(o *slowEntry) bool { return o == e })
}

func (s *slow) add(e slowEntry) {
	var same []*slowEntry
	for _, o := range s.all {
		if o.kind == e.kind {
			same = append(same, o)
		}
	}
	if len(same) >= s.c.Pending {
		first := byExpiry(same)[0]
		s.drop(first)
		switch e.kind {
		case "features":
			s.counts.Evicted++
			s.add(slowEntry{key: first.key, kind: "done", until: first.until, label: -1})
		case "label":
			s.counts.Unmatched++
		}
	}
	e.seq = s.seq
	s.seq++
	s.all = append(s.all, &e)
}

func byExpiry(of []*slowEntry) []*slowEntry {
	of = slices.Clone(of)
	sort.Slice(of, func(i, j int) bool {
		return of[i].until < of[j].until || of[i].until == of[j].until && of[i].seq < of[j].seq
	})
	return of
}

// advance returns the keys whose time is over.
func (s *slow) advance(to int64) (over []string) {
	far := s.c.TTL + s.c.Grace
	switch {
	case !s.began:
		s.clock, s.began = to, true
	case to < s.clock-far:
		s.ahead = nil
		if s.behind++; s.behind == 8 {
			s.clock, s.behind = to, 0
		}
		return nil
	case to > s.clock+far:
		s.behind = 0
		if s.ahead = append(s.ahead, to); len(s.ahead) < 8 {
			return nil
		}
		s.clock = slices.Min(s.ahead)
	default:
		s.clock = max(s.clock, to)
	}
	s.ahead, s.behind = nil, 0
	for _, kind := range []string{"features", "label", "done"} {
		for {
			var expired []*slowEntry
			for _, e := range s.all {
				if e.kind == kind && e.until < s.clock {
					expired = append(expired, e)
				}
			}
			if len(expired) == 0 {
				break
			}
			e := byExpiry(expired)[0]
			s.drop(e)
			switch kind {
			case "features":
				s.counts.TimedOut++
				over = append(over, e.key)
				s.add(slowEntry{key: e.key, kind: "done", until: e.until + s.c.TTL, label: -1})
			case "label":
				s.counts.Unmatched++
			}
		}
	}
	return over
}

func (s *slow) features(key string, at int64) (label int, repeated bool) {
	until := at + s.c.TTL + s.c.Grace
	was := s.find(key)
	switch {
	case was == nil:
		s.add(slowEntry{key: key, kind: "features", until: until, at: at})
		return -1, false
	case was.kind != "label":
		s.counts.Repeated++
		return -1, true
	}
	s.drop(was)
	if was.at-at > s.c.TTL {
		s.counts.Late++
		s.add(slowEntry{key: key, kind: "done", until: until, label: -1})
		return -1, false
	}
	s.counts.Matched++
	s.add(slowEntry{key: key, kind: "done", until: until, label: was.label})
	return was.label, false
}

func (s *slow) label(key string, at int64, y int) (matched bool, kind string) {
	was := s.find(key)
	switch {
	case was == nil:
		s.add(slowEntry{key: key, kind: "label", until: at + s.c.TTL + s.c.Grace, at: at, label: y})
	case was.kind == "features" && at-was.at > s.c.TTL, was.kind == "done" && was.label < 0:
		s.counts.Late++
		return false, LateLabel
	case was.kind == "features":
		s.drop(was)
		s.counts.Matched++
		s.add(slowEntry{key: key, kind: "done", until: was.until, label: y})
		return true, ""
	case was.label == y:
		s.counts.Duplicate++
		return false, DuplicateLabel
	default:
		s.counts.Contradicting++
		return false, ContradictingLabel
	}
	return false, ""
}

func (s *slow) labelled(key string, at int64, y int) {
	if was := s.find(key); was != nil {
		switch {
		case was.kind != "label":
			s.counts.Repeated++
		case was.label == y:
			s.counts.Duplicate++
		default:
			s.counts.Contradicting++
		}
		if was.kind == "done" {
			return
		}
		s.drop(was)
	}
	s.add(slowEntry{key: key, kind: "done", until: at + s.c.TTL + s.c.Grace, label: y})
}

func class(y int) learner.Label { return learner.Label{Task: learner.Classification, Class: y} }

// A Join does the same as the list, for random records in nearly the order of their times,
// with small and large bounds, also after it was saved and restored at any point.
func TestJoinIsThatOfAList(t *testing.T) {
	var total Counts
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := Config{TTL: 100, Grace: int64(rng.IntN(2)) * 20, Pending: []int{3, 20, 1000}[rng.IntN(3)], Timeout: "no"}
		j, s := New(c), &slow{c: c}
		j.SetTimeout(class(7))
		now, keys, wrong := int64(1000), 30+rng.IntN(200), 0
		for n := range 400 {
			now += int64(rng.IntN(8))
			if rng.IntN(50) == 0 {
				now += int64(rng.IntN(200)) // a quiet time
			}
			at := now - int64(rng.IntN(30))
			if rng.IntN(60) == 0 {
				wrong = 1 + rng.IntN(11)
			}
			if wrong > 0 {
				at, wrong = at+100_000, wrong-1 // a wrong clock
			}
			key := fmt.Sprint("k", rng.IntN(keys))
			var gone []string
			for _, x := range j.Advance(at) {
				gone = append(gone, x.Key)
				if x.Label.Class != 7 {
					t.Fatalf("seed %d: a label of %v for a time-out", seed, x.Label)
				}
			}
			if want := s.advance(at); !slices.Equal(gone, want) {
				t.Fatalf("seed %d, record %d: the time of %v is over, want %v", seed, n, gone, want)
			}
			if rng.IntN(10) == 0 {
				y := rng.IntN(2)
				j.Labelled(key, at, class(y))
				s.labelled(key, at, y)
			} else if rng.IntN(2) == 0 {
				e := &Event{Key: key, Time: at, X: []float64{float64(n), 1}, Weight: 1, Kept: []float64{float64(n)}}
				y, repeated := j.Features(key, e)
				want, twice := s.features(key, at)
				if (y.Task != learner.Auto) != (want >= 0) || want >= 0 && y.Class != want || repeated != twice {
					t.Fatalf("seed %d, record %d: features %s: %v, %v, want %d, %v", seed, n, key, y, repeated, want, twice)
				}
			} else {
				y := rng.IntN(2)
				e, kind := j.Label(key, at, class(y))
				matched, want := s.label(key, at, y)
				if (e != nil) != matched || kind != want || e != nil && e.Key != key {
					t.Fatalf("seed %d, record %d: label %s: %v, %q, want %v, %q", seed, n, key, e, kind, matched, want)
				}
			}
			if j.counts != s.counts {
				t.Fatalf("seed %d, record %d: %+v, want %+v", seed, n, j.counts, s.counts)
			}
			if now := j.Status(); now.Pending > c.Pending || now.Early > c.Pending || now.Done > c.Pending {
				t.Fatalf("seed %d: %+v, the limit is %d", seed, now, c.Pending)
			}
			if rng.IntN(20) == 0 {
				j = restored(t, c, j)
				j.SetTimeout(class(7))
			}
		}
		for i, n := range total.totals() {
			*n += *s.counts.totals()[i]
		}
	}
	for i, n := range total.totals() {
		if *n < 20 {
			t.Errorf("total %d is %d of all records: the sequences do not cover it", i, *n)
		}
	}
}

// restored returns j after it was saved, and checks that it would be saved as the same arrays.
func restored(t *testing.T, c Config, j *Join) *Join {
	t.Helper()
	state := j.State()
	again, err := Restore(c, state, rows(2))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.State(), state) {
		t.Fatal("a Join that was restored is saved as other arrays")
	}
	return again
}

// rows returns the checks of a model of eight classes whose rows have that many values.
func rows(inputs int) Checks {
	return Checks{inputs, 8, func([]float64) error { return nil }, func(learner.Label) error { return nil }}
}

// A clock that was wrong for several records, from the first on or later, does not stay: the
// features after it wait for their labels.
func TestTimeGoesBackAfterAWrongClock(t *testing.T) {
	for _, right := range []int64{0, 5} {
		j, at := New(Config{TTL: 100, Pending: 100}), int64(1000)
		next := func(step int64) { at += step; j.Advance(at) }
		for range right {
			next(1)
		}
		for range int64(3) {
			j.Advance(at + 1e6)
		}
		for i := range 12 {
			next(1)
			j.Features(fmt.Sprint(i), &Event{Time: at, Weight: 1})
		}
		next(1)
		for i := range 12 {
			if e, kind := j.Label(fmt.Sprint(i), at, class(1)); e == nil {
				t.Errorf("%d right records before the wrong ones: the label of features %d is %q", right, i, kind)
			}
		}
	}
}

// What no Join has saved is refused, whatever is wrong with it.
func TestRestoreRefusesDamage(t *testing.T) {
	c := Config{TTL: 10, Pending: 5}
	j := New(c)
	j.Advance(1)
	j.Features("a", &Event{Key: "a", Time: 1, X: []float64{1, 2}, Weight: 1, Kept: []float64{0, 0}})
	j.Label("b", 2, learner.Label{Task: learner.Regression, Value: 3, More: []float64{4}})
	j.Labelled("c", 2, class(1))
	for i := range j.State() {
		for _, damage := range []func(a *learner.Array){
			func(a *learner.Array) { a.Name += "x" },
			func(a *learner.Array) { a.Data = "no numbers" },
			func(a *learner.Array) { a.Shape[1]++ },
			func(a *learner.Array) {
				switch v := a.Data.(type) {
				case []float64:
					a.Data, a.Shape[0] = v[:len(v)-1], a.Shape[0]-1
				case []int64:
					a.Data, a.Shape[0] = v[:len(v)-a.Shape[1]], a.Shape[0]-1
				case []byte:
					a.Data, a.Shape[0] = v[1:], a.Shape[0]-1
				}
			},
		} {
			state := j.State()
			damage(&state[i])
			if _, err := Restore(c, state, rows(2)); err == nil {
				t.Errorf("%s was restored with damage: %+v", j.State()[i].Name, state[i])
			}
		}
	}
	if _, err := Restore(c, j.State(), rows(3)); err == nil {
		t.Error("rows of another number of inputs were restored")
	}
	for _, class := range []int{-2, 8, 1 << 30} {
		of := New(c)
		of.Features("a", &Event{Key: "a", Time: 1, X: []float64{1, 2}, Weight: 1, Class: class})
		if _, err := Restore(c, of.State(), rows(2)); err == nil {
			t.Errorf("class %d of 8 was restored", class)
		}
	}
	no := fmt.Errorf("no")
	if _, err := Restore(c, j.State(), Checks{2, 8, func([]float64) error { return no }, rows(2).Label}); err != no {
		t.Error("a prediction that the model cannot have made was restored")
	}
	if _, err := Restore(c, j.State(), Checks{2, 8, rows(2).Kept, func(learner.Label) error { return no }}); err != no {
		t.Error("a label that the model cannot learn was restored")
	}
	rest, own := Split(append([]learner.Array{{Name: "counters"}}, append(j.State(), learner.Array{Name: "windows.x"})...))
	if len(rest) != 2 || len(own) != len(j.State()) {
		t.Errorf("split into %d and %d arrays", len(rest), len(own))
	}
}

// Seven records with a wrong clock expire nothing, and the eighth in succession is believed.
func TestOneProducerWithAWrongClockExpiresNothing(t *testing.T) {
	j := New(Config{TTL: 100, Grace: 10, Pending: 10, Timeout: "no"})
	j.SetTimeout(class(7))
	j.Advance(0)
	j.Features("a", &Event{Time: 0})
	for _, right := range []int64{1, 2, 3} {
		for i := range int64(7) {
			if over := j.Advance(1_000_000 + 500*i); over != nil {
				t.Fatalf("%d records with a wrong clock expire %v", i+1, over)
			}
		}
		j.Advance(right)
	}
	for i := range int64(8) {
		if over := j.Advance(2_000 - i); (over != nil) != (i == 7) {
			t.Errorf("record %d of a time far ahead expires %v", i+1, over)
		}
	}
	if j.clock != 2_000-7 {
		t.Errorf("the time is %d, want the least of those that confirm each other", j.clock)
	}
}
