package table

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// slow is a table as a list of rows, the one that was set first at the front.
type slow struct {
	most   int
	bytes  int // that the rows may have in a snapshot
	topic  [16]byte
	next   map[int32]int64
	rows   []Row
	counts Counts
}

func (s *slow) apply(c Changes) {
	if c.TopicID != s.topic {
		if len(s.next) > 0 {
			s.counts.Renewed++
		}
		s.topic, s.rows, s.next = c.TopicID, nil, map[int32]int64{}
	}
	s.next[c.Partition] = c.To
	s.counts.Rejected += c.Rejected
	for _, r := range c.Rows {
		had := len(s.rows)
		s.rows = slices.DeleteFunc(s.rows, func(o Row) bool { return o.Key == r.Key })
		if r.Values == "" {
			s.counts.Deleted += int64(had - len(s.rows))
			continue
		}
		s.counts.Set++
		for s.rows = append(s.rows, r); len(s.rows) > 1 && (len(s.rows) > s.most || s.saved() > s.bytes); s.counts.Evicted++ {
			s.rows = s.rows[1:]
		}
	}
}

func (s *slow) saved() (n int) {
	for _, r := range s.rows {
		n += 16 + len(r.Key) + len(r.Values)
	}
	return n
}

var config = Config{Topic: "t", Key: "k", Fields: []string{"a", "b"}, Rows: 20}

// changes returns random changes.
func changes(rng *rand.Rand, n int) (all []Changes) {
	topic, next := [16]byte{1}, [3]int64{}
	for range n {
		if rng.IntN(60) == 0 {
			topic[0]++
			next = [3]int64{}
		}
		p := rng.IntN(3)
		c := Changes{Table: "t", TopicID: topic, Partition: int32(p), From: next[p], Rejected: int64(rng.IntN(2))}
		for range rng.IntN(6) {
			r := Row{Key: fmt.Sprint("k", rng.IntN(40))}
			if rng.IntN(4) > 0 {
				r.Values = fmt.Sprintf(`[%d,"x\n%d"]`, rng.IntN(9), rng.IntN(9))
			}
			c.Rows = append(c.Rows, r)
		}
		c.To = c.From + int64(len(c.Rows)) + c.Rejected
		next[p] = c.To
		all = append(all, c)
	}
	return all
}

// Tables have the rows, the order of eviction and the counts of a list, also after they were
// saved and restored, or copied, at any point.
func TestTableIsThatOfAList(t *testing.T) {
	for _, bytes := range []int{maxSaved, 400, 40, 1} { // of 20 rows in about 500
		t.Run(fmt.Sprint(bytes), func(t *testing.T) { testAsList(t, bytes) })
	}
}

func testAsList(t *testing.T, bytes int) {
	rng := rand.New(rand.NewPCG(3, 5))
	tables, list := New([]Config{config}), &slow{most: config.Rows, bytes: bytes, next: map[int32]int64{}}
	tables.All[0].most = int64(bytes)
	for i, c := range changes(rng, 3000) {
		if err := tables.Check([]Changes{c}); err != nil {
			t.Fatal(err)
		}
		tables.Apply([]Changes{c})
		list.apply(c)
		switch rng.IntN(20) {
		case 0:
			again, err := Restore([]Config{config}, tables.State())
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again.State(), tables.State()) {
				t.Fatal("tables that were restored are saved as other arrays")
			}
			again.All[0].most = int64(bytes)
			tables = again
		case 1:
			was := tables.State()
			again := tables.Clone()
			tables.Apply([]Changes{{Table: "t", TopicID: c.TopicID, Rows: []Row{{"k1", ""}, {"other", "[1,2]"}}}})
			if !reflect.DeepEqual(again.State(), was) {
				t.Fatal("a copy changes with its original")
			}
			tables = again
		}
		one := tables.All[0]
		for _, key := range []string{"k0", "k7", "k39", "none"} {
			want := ""
			if i := slices.IndexFunc(list.rows, func(r Row) bool { return r.Key == key }); i >= 0 {
				want = list.rows[i].Values
			}
			if got := one.Row([]byte(key)); got != want {
				t.Fatalf("change %d: the row of %s is %s, want %s", i, key, got, want)
			}
		}
		status := tables.Status()[0]
		if status.Rows != len(list.rows) || status.Counts != list.counts {
			t.Fatalf("change %d: %+v, want %d rows, %+v", i, status, len(list.rows), list.counts)
		}
		for p := range int32(3) {
			if id, next := one.Next(p); id != list.topic || next != list.next[p] {
				t.Fatalf("change %d: %v, %d, want %v, %d", i, id, next, list.topic, list.next[p])
			}
		}
	}
	for i, n := range list.counts.totals() {
		if *n < 20 {
			t.Errorf("count %d is %d: the changes do not cover it", i, *n)
		}
	}
}

// What no Tables have saved is refused, whatever is wrong with it.
func TestRestoreRefusesDamage(t *testing.T) {
	tables := New([]Config{config})
	tables.Apply([]Changes{{Table: "t", TopicID: [16]byte{1}, Partition: 1, To: 9, Rows: []Row{{"a", "[1,null]"}, {"b", `["x",true]`}}}})
	for i, of := range tables.State() {
		for k, damage := range []func(a *learner.Array){
			func(a *learner.Array) { a.Name += "x" },
			func(a *learner.Array) { a.Data = "no numbers" },
			func(a *learner.Array) { a.Shape[1]++ },
			func(a *learner.Array) {
				switch v := a.Data.(type) {
				case []int64:
					v[len(v)-1] = -1
				case []byte:
					v[len(v)-1] = '}'
				}
			},
			func(a *learner.Array) {
				if v, ok := a.Data.([]int64); ok {
					v[0] = -5
				} else {
					a.Data, a.Shape[0] = a.Data.([]byte)[1:], a.Shape[0]-1
				}
			},
		} {
			state := tables.State()
			if damage(&state[i]); i == 0 && k == 4 {
				continue // any topic id may be there
			}
			if _, err := Restore([]Config{config}, state); err == nil {
				t.Errorf("%s was restored with damage %d", of.Name, k)
			}
		}
	}
	if _, err := Restore([]Config{{Topic: "t", Key: "k", Fields: []string{"a"}, Rows: 20}}, tables.State()); err == nil {
		t.Error("rows of two values were restored for one field")
	}
	if _, err := Restore([]Config{{Topic: "t", Key: "k", Fields: []string{"a", "b"}, Rows: 1}}, tables.State()); err == nil {
		t.Error("more rows than the limit were restored")
	}
	if _, err := Restore(nil, tables.State()); err == nil {
		t.Error("rows were restored without a table")
	}
}

// Changes that no reader has made are refused.
func TestCheckRefusesForeignChanges(t *testing.T) {
	tables := New([]Config{config})
	for what, c := range map[string]Changes{
		"another table":     {Table: "other"},
		"a negative offset": {Table: "t", From: -1},
		"a range backwards": {Table: "t", From: 5, To: 4},
		"too few values":    {Table: "t", Rows: []Row{{"a", "[1]"}}},
		"an object":         {Table: "t", Rows: []Row{{"a", `[1,{"b":2}]`}}},
		"no JSON":           {Table: "t", Rows: []Row{{"a", `[1,`}}},
		"a huge partition":  {Table: "t", Partition: 1 << 30},
	} {
		if tables.Check([]Changes{c}) == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}

// Options are read as they are written.
func TestOptionsAreReadAsTheyAreWritten(t *testing.T) {
	for _, text := range []string{"topic=a.b key=id fields=x,y.z", "topic=a as=b key=id fields=x rows=7"} {
		c, err := Parse(text)
		if err != nil || c.String() != text {
			t.Errorf("%s is %s, %v", text, c, err)
		}
		if _, err := c.Effective(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"topic", "topic=a topic=b", "of=a", "rows=x", "topic=a,b", "key=", "fields=a,a topic=t key=k", "topic=t key=k", "key=k fields=a", "topic=t fields=a", "topic=t key=k fields=a rows=-1"} {
		c, err := Parse(text)
		if err == nil {
			_, err = c.Effective()
		}
		if err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
