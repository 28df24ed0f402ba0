package oracle_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/oracle"
)

// rings returns examples of two classes, including some without a label and
// some invalid records.
func rings(i int, x, y float64) string {
	switch {
	case i%37 == 36:
		return fmt.Sprintf(`{"features":{"x":%v,"y":%v}}`, x, y)
	case i%41 == 40:
		return `{"features":{"x":1},"label":"in"}`
	}
	return fmt.Sprintf(`{"features":{"x":%v,"y":%v},"label":"%s"}`, x, y, map[bool]string{true: "in", false: "out"}[math.Hypot(x, y) < 1.2])
}

// lists returns a regression with inputs by index, weights and keys.
func lists(i int, x, y float64) string {
	key := fmt.Sprintf(`,"key":"k%d"`, i%5)
	switch i % 13 {
	case 3:
		return fmt.Sprintf(`{"x":[%v,%v]%s}`, x, y, key)
	case 5:
		return fmt.Sprintf(`{"x":[%v,%v],"y":%v,"weight":%v}`, x, y, x*y, 0.5+float64(i%3))
	case 7:
		return []string{
			`{"x":[1],"y":2}`, `{"x":[1,2,3],"y":2}`, `{"x":[1,null],"y":2}`, `{"x":[1,"2"],"y":2}`, `{"x":[1,2],"y":"2"}`, `{"x":[1,2],"y":2,"weight":0}`,
			`{"x":[1,2],"y":2,"weight":"1"}`, `{"x":[1,2],"y":2,"z":3}`, `{"x":[1,2],"y":1e999}`, `{"x":[1,2],"y":2,"y":2}`, `{"x":[1,2],"x":[1,2]}`,
			`{"x":[1,2],"y":2,"key":[1]}`, `{"x":[1,2],"y":2,"key":"\ud800"}`, `{"x":[1,2],"features":{"a":1}}`, `{"x":[1,2],"y":2}}`, `[1,2]`,
		}[i/13%16]
	case 9:
		return fmt.Sprintf(`{"x":[%v,%v],"y":%v,"key":%d}`, x, y, x*y, i%4)
	}
	return fmt.Sprintf(`{"x":[%v,%v],"y":%v%s}`, x, y, x*y, key)
}

// poses returns flat records with three targets, a key and a weight of other
// names, ignored fields and missing columns.
func poses(i int, x, y float64) string {
	more := []string{"", `,"note":"\u0061"`, `,"note":{"a":[1,{}]}`, `,"gain":2.5`, `,"gain":-1`, `,"who":null`, `,"p":null`}[i%7]
	labels := fmt.Sprintf(`,"p":%v,"q":%v,"r":1`, x+y, x*y)
	if i%11 == 10 {
		labels = `,"q":1`
	}
	if strings.Contains(more, `"p"`) {
		labels = `,"q":1,"r":2`
	}
	second := fmt.Sprintf(`,"b":%v`, y)
	if i%17 == 16 {
		second = []string{"", `,"b":null`, `,"b":true`, `,"a":1`}[i/17%4]
	}
	who := fmt.Sprintf(`,"who":"u\u00%d"`, 30+i%4)
	if strings.Contains(more, "who") {
		who = ""
	}
	return fmt.Sprintf(`{"a":%v%s%s%s%s}`, x, second, labels, who, more)
}

// numbers returns examples with numbers as class names.
func numbers(i int, x, y float64) string {
	label := []string{"1", "1.0", "-0", "2.5", "12345678901234567890", "1e0", "true", `"1"`}[i%8]
	if i > 100 && x > 0 {
		label = "1"
	}
	return fmt.Sprintf(`{"x":%v,"y":%v,"label":%s}`, x, y, label)
}

// mixed returns examples with columns of all types. Some are missing, some have a value
// of another type, and one has its first value late.
func mixed(i int, x, y float64) string {
	carrier := []string{`"UA"`, `"AA"`, `"DL"`, `null`, `"\u0041A"`}[i%5]
	tail := fmt.Sprintf(`"N%d"`, int(40*y*y))
	late, at := "null", fmt.Sprintf(`"2024-03-%02dT%02d:10:00Z"`, 1+i/60%28, i%24)
	if i > 90 {
		late = fmt.Sprint(i%2 == 0)
	}
	switch {
	case i%29 == 28:
		carrier = []string{`5`, `true`, `{"a":1}`, `[1]`, `""`}[i/29%5]
	case i%31 == 30:
		at = []string{`"noon"`, `17`, `null`, `"2024-03-01"`}[i/31%4]
	}
	first := fmt.Sprintf(`"x":%v,`, x)
	if i%11 == 10 {
		first = []string{``, `"x":null,`, `"x":"1",`}[i/11%3]
	}
	label := fmt.Sprint(x*x+float64(i%5) > 2)
	if i%23 == 22 {
		label = "null"
	}
	return fmt.Sprintf(`{%s"carrier":%s,"tail":%s,"late":%s,"at":%s,"label":%s}`, first, carrier, tail, late, at, label)
}

// nested returns examples with objects and lists, some of which are missing, longer than
// the others or of another type.
func nested(i int, x, y float64) string {
	customer := fmt.Sprintf(`{"address":{"city":"c%d"},"age":%v}`, i%4, x)
	if i%13 == 12 {
		customer = []string{`null`, `{"age":null}`, `{"address":null,"age":1}`, `{"address":5}`, `{"address":{"city":[1]}}`, `3`, `[1]`}[i/13%7]
	}
	list := fmt.Sprintf(`[%v,%v]`, x, y)
	if i%17 == 16 {
		list = []string{`[1]`, `[]`, `[1,2,3]`, `[1,"2"]`, `null`, `[1,null]`}[i/17%6]
	}
	label := fmt.Sprint(x+y*float64(i%4) > 0)
	if i%19 == 18 {
		label = "null"
	}
	return fmt.Sprintf(`{"customer":%s,"f":%s,"a.b":%v,"id":%d,"label":%s}`, customer, list, y, i, label)
}

// declared has columns whose types are declared: texts, times and numbers with long tails.
func declared(i int, x, y float64) string {
	note := fmt.Sprintf(`"%s No. %d, wörd"`, []string{"Late again", "the TRAIN\\n", "", "---", "a", "lost\\u00e9"}[i%6], i%9)
	if i%11 == 10 { // more different words than the decoder keeps
		note = `"`
		for k := range 90 {
			note += fmt.Sprintf("%s%d ", strings.Repeat("x", (i+7*k)%9), k%80)
		}
		note += `"`
	}
	if i%13 == 12 {
		note = []string{`null`, `5`, `"x","note:01":1`, `"a","note":"b"`, `true`}[i/13%5]
	}
	at := fmt.Sprint(1.7e9 + 60*float64(i))
	if i%17 == 16 {
		at = []string{`null`, `"2024-01-02"`, `"noon"`, `1e31`}[i/17%4]
	}
	label := fmt.Sprint(x+y*float64(i%2) > 0)
	if i%19 == 18 {
		label = "null"
	}
	card := ""
	if i%5 > 0 {
		card = fmt.Sprintf(`,"card":"c%d"`, i%40)
	}
	return fmt.Sprintf(`{"note":%s,"at":%s,"old":"2020-01-%02d","tail":%v,"code":%d,"label":%s%s}`, note, at, 1+i%28, x*x*x, i%3, label, card)
}

var streams = map[string]struct {
	record func(i int, x, y float64) string
	decode decode.Config
	lags   int

	mixture bool
}{
	"rings":  {record: rings, mixture: true},
	"lists":  {record: lists},
	"lags":   {record: lists, lags: 2},
	"poses":  {record: poses, decode: decode.Config{Labels: []string{"p", "q", "r"}, Key: "who", Weight: "gain", Missing: "zero", Unknown: "ignore"}},
	"mixed":  {record: mixed, decode: decode.Config{Label: "label", Infer: true, Missing: "impute"}},
	"nested": {record: nested, decode: decode.Config{Label: "label", Infer: true, Missing: "impute", Depth: decode.MaxDepth, Types: map[string]string{"id": schema.ID}}},
	"declared": {record: declared, mixture: true, decode: decode.Config{Label: "label", Key: "card", Infer: true, Missing: "impute", Grams: true, Types: map[string]string{
		"note": "text", "at": "time:since", "old": "time:trend", "tail": "numeric:normal", "code": "category:decay=40", "code*old": "pair"}}},
	"numbers": {record: numbers, decode: decode.Config{Label: "label", Task: learner.Classification, MaxClasses: 4}},
}

// records returns the first n records of a stream.
func records(name string, n int) []string {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]string, n)
	for i := range values {
		values[i] = streams[name].record(i, rng.NormFloat64(), rng.NormFloat64())
	}
	return values
}

// config returns the configuration of a model that learns a stream to its end.
func config(c *ingest.Client, in, name string) model.Config {
	s, kernel := streams[name], "gaussian:1.5"
	if name == "rings" {
		kernel = "gaussian" // whose scale the warm-up chooses
	}
	return model.Config{
		Model: "m." + in, Client: c, Topics: []string{in}, Decode: s.decode,
		Learner:   learner.Config{Kernel: kernel, BlockSize: 8, MaxFeatures: 32, Targets: max(1, len(s.decode.Labels)), Lags: s.lags, Mixture: s.mixture},
		BatchSize: 50, Linger: time.Millisecond, SnapshotEvery: 50 * time.Millisecond, ReplayLimit: time.Hour,
		Keep: 3, History: 1 << 30, ToEnd: true, Report: func(event.Event) {},
	}
}

func learnAll(t *testing.T, c model.Config) {
	t.Helper()
	l, err := pipeline.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// world returns the topics after a pipeline has learned a whole stream in two
// runs.
func world(t *testing.T, name string) oracle.World {
	addr := kafkatest.Addr(t)
	c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name(name)
	values, cfg := records(name, 400), config(c, in, name)
	kafkatest.Fill(t, c, in, 2, values[:200])
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 2, values[200:])
	learnAll(t, cfg)
	w, err := oracle.Load(t.Context(), strings.Split(addr, ","), cfg.Model, in)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var once struct {
	sync.Mutex
	world oracle.World
}

// rightWorld returns a copy of a world of rings that the tests that change one share.
func rightWorld(t *testing.T) oracle.World {
	once.Lock()
	defer once.Unlock()
	if len(once.world.Log) == 0 {
		once.world = world(t, "rings")
	}
	return copied(once.world)
}

// copied returns w with records of its own.
func copied(w oracle.World) oracle.World {
	w.Log, w.Predictions, w.Quarantine = clone(w.Log), clone(w.Predictions), clone(w.Quarantine)
	inputs := w.Inputs
	w.Inputs = map[oracle.Partition][]oracle.Record{}
	for p, rs := range inputs {
		w.Inputs[p] = clone(rs)
	}
	return w
}

func TestOracleAgreesWithThePipeline(t *testing.T) {
	for name := range streams {
		t.Run(name, func(t *testing.T) {
			w := world(t, name)
			r := oracle.Check(w)
			if r.Divergences != 0 || r.Lost != 0 || r.Differing != 0 || r.Compared < 2 || r.Learned < 200 || r.Predicted == 0 && name != "numbers" || r.Quarantined == 0 || r.Consumed != 400 {
				t.Errorf("%+v", r)
			}
			t.Logf("learned %d, predicted %d, quarantined %d", r.Learned, r.Predicted, r.Quarantined)
		})
	}
}
