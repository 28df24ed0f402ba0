package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// world is a model, the topic that it learns from, and the topic that is scored.
type world struct {
	addr               string
	client             *ingest.Client
	model, in, asked   string
	learnEvents        func(event.Event)
	switches, waitings int
	damaged            int
	broken, whole      int
	defaults           bool // the default model; otherwise one of 64 random features, which is learned quickly
	costs              string
	task               learner.Task
	shares             map[*serve.Scorer]int // number of partitions
	scored             int                   // these are committed when a scorer stops
	mu                 sync.Mutex
}

func newWorld(t *testing.T) *world {
	addr := kafkatest.Addr(t)
	return newWorldAt(addr, kafkatest.ClientOf(t, addr, nil))
}

func newWorldAt(addr string, c *ingest.Client) *world {
	return &world{
		addr:   addr,
		client: c, model: kafkatest.Name("model"), in: kafkatest.Name("rings"), asked: kafkatest.Name("asked"),
		learnEvents: func(event.Event) {}, shares: map[*serve.Scorer]int{},
	}
}

// rings generates examples with a class or value that depends on the distance from
// the origin.
func rings(seed uint64, n int, label func(r float64) string) []string {
	rng := rand.New(rand.NewPCG(seed, 4))
	out := make([]string, n)
	for i := range out {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		out[i] = fmt.Sprintf(`{"features":{"x":%v,"y":%v}%s}`, x, y, label(math.Hypot(x, y)))
	}
	return out
}

func none(float64) string    { return "" }
func class(r float64) string { return fmt.Sprintf(`,"label":"%v"`, r > 1.2) }
func three(r float64) string { return fmt.Sprintf(`,"label":"%d"`, min(2, int(r))) }
func value(r float64) string { return fmt.Sprintf(`,"label":%v`, 100+r*r) }
func answers(rs []ingest.Record) map[string]string {
	m := map[string]string{}
	for _, r := range rs {
		m[kafkatest.Header(r, "ce_id")] = string(r.Value)
	}
	return m
}

// learner returns the configuration of a learner.
func (w *world) learner(topics ...string) model.Config {
	c := model.Config{
		Model: w.model, Client: w.client, Topics: topics, BatchSize: 1000, Linger: time.Millisecond,
		SnapshotEvery: time.Hour, ReplayLimit: time.Hour, Keep: 3, History: 1 << 30, ToEnd: true, Report: w.learnEvents,
	}
	c.Learner.Costs = w.costs
	c.Learner.Task, c.Decode.Task = w.task, w.task
	if !w.defaults {
		c.Learner.Kernel, c.Learner.BlockSize, c.Learner.MaxFeatures = "gaussian:1.5", 16, 64
	}
	return c
}

// learn runs a learner up to the end of the input.
func (w *world) learn(t *testing.T, topics ...string) {
	t.Helper()
	l, err := pipeline.Open(t.Context(), w.learner(topics...))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (w *world) scorer(toEnd bool) (s *serve.Scorer) {
	s = serve.NewScorer(serve.Config{
		Model: w.model, Client: w.client, Log: model.LogTopic(w.model), Topics: []string{w.asked},
		Output: model.ScoresTopic(w.model), Quarantine: model.QuarantineTopic(w.model),
		Group: w.model + "-scorer", ToEnd: toEnd,
		Report: func(ev serve.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			switch ev := ev.(type) {
			case serve.Switched:
				w.switches++
			case serve.Waiting:
				w.waitings++
			case serve.Damaged:
				w.damaged++
			case serve.Broken:
				w.broken++
			case serve.Repaired:
				w.whole++
			case serve.Scored:
				w.scored += ev.Scored
			case serve.Shared:
				w.shares[s] = 0
				for _, ps := range ev.Mine {
					w.shares[s] += len(ps)
				}
			}
		},
	})
	return s
}

// TestScorerPredictsWhatTheLearnerWould compares the predictions of a learner for
// records without a label with those of a scorer that uses its last snapshot. The
// values must be byte-identical.
func TestScorerPredictsWhatTheLearnerWould(t *testing.T) {
	for name, label := range map[string]func(float64) string{"two classes": class, "three classes": three, "regression": value} {
		for _, rows := range []int{40, 700, 1300} { // before the first fit, during the warm-up, after it
			t.Run(fmt.Sprintf("%s/%d", name, rows), func(t *testing.T) {
				w := newWorld(t)
				w.defaults = rows == 1300 && name == "three classes"
				kafkatest.Fill(t, w.client, w.in, 1, rings(1, rows, label))
				kafkatest.Fill(t, w.client, w.asked, 1, nil)
				w.learn(t, w.in, w.asked)
				kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 300, none))
				if err := w.scorer(true).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.learn(t, w.in, w.asked) // predicts the unlabelled records and learns nothing
				learned := answers(kafkatest.Read(t, w.client, model.PredictionsTopic(w.model)))
				scored := answers(kafkatest.Read(t, w.client, model.ScoresTopic(w.model)))
				if len(scored) != 300 {
					t.Fatalf("%d scores of 300 records", len(scored))
				}
				for id, got := range scored {
					if want := learned[id]; got != want {
						t.Fatalf("%s: the scorer says %s, the learner %s", id, got, want)
					}
				}
			})
		}
	}
}

// A program that does not want to know what a scorer does sets no Config.Report.
func TestNobodyNeedsReports(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 40, class))
	kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 30, none))
	w.learn(t, w.in)
	s := serve.NewScorer(serve.Config{
		Model: w.model, Client: w.client, Log: model.LogTopic(w.model), Topics: []string{w.asked},
		Output: model.ScoresTopic(w.model), Quarantine: model.QuarantineTopic(w.model), Group: w.model + "-scorer", ToEnd: true,
	})
	if err := s.Run(t.Context()); err != nil || w.scores(t) != 30 {
		t.Errorf("%d scores of 30 records, %v", w.scores(t), err)
	}
}

// until waits until ok returns true, and fails if a scorer stops before.
func until(t *testing.T, done <-chan error, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long until %s", what)
		}
		select {
		case err := <-done:
			t.Fatalf("the scorer ended: %v", err)
		default:
		}
	}
}

// scores returns the number of scores written.
func (w *world) scores(t *testing.T) (n int) {
	_, end, err := w.client.Offsets(t.Context(), model.ScoresTopic(w.model))
	if err != nil {
		return 0
	}
	for _, e := range end {
		n += int(e)
	}
	return n
}

// TestScorersOfAModelShareThePartitions runs two scorers, then one, and then two
// again. Between the changes, each record is scored once.
func TestScorersOfAModelShareThePartitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	w.learn(t, w.in)
	const partitions = 5
	kafkatest.Fill(t, w.client, w.asked, partitions, nil)
	done := make(chan error, 3)
	start := func() (s *serve.Scorer, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		s = w.scorer(false)
		ended := make(chan error, 1)
		go func() {
			err := s.Run(ctx)
			if ctx.Err() == nil {
				done <- err
			}
			ended <- err
		}()
		stop = sync.OnceFunc(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		t.Cleanup(stop)
		return s, stop
	}
	share := func(s *serve.Scorer) int { w.mu.Lock(); defer w.mu.Unlock(); return w.shares[s] }
	asked := 0
	ask := func(who string) {
		t.Helper()
		kafkatest.Fill(t, w.client, w.asked, partitions, rings(uint64(asked), 200, none))
		asked += 200
		until(t, done, who+" have scored", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.scored >= asked })
	}
	one, stopOne := start()
	until(t, done, "one has all", func() bool { return share(one) == partitions })
	two, _ := start()
	until(t, done, "two share", func() bool { return share(one)+share(two) == partitions && share(one)*share(two) > 0 })
	ask("two scorers")
	stopOne()
	until(t, done, "the other has all", func() bool { return share(two) == partitions })
	ask("the other's share")
	three, stopThree := start()
	until(t, done, "two share again", func() bool { return share(three)+share(two) == partitions && share(three) > 0 })
	ask("two again")
	stopThree()
	if n := w.scores(t); n != asked {
		t.Errorf("%d scores of %d records", n, asked)
	}
	if n := len(answers(kafkatest.Read(t, w.client, model.ScoresTopic(w.model)))); n != asked {
		t.Errorf("%d records of %d have a score", n, asked)
	}
}

func TestScorerWaitsForAModelAndFollowsIt(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 500, class))
	kafkatest.Fill(t, w.client, w.asked, 3, rings(2, 100, none))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	s := w.scorer(false)
	go func() { done <- s.Run(ctx) }()
	until := func(what string, ok func() bool) { t.Helper(); until(t, done, what, ok) }
	count := func() int { return w.scores(t) }
	until("it waits", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.waitings > 0 })
	if n := count(); n != 0 {
		t.Errorf("%d scores without a model", n)
	}
	began := time.Now()
	w.learn(t, w.in)
	learned := time.Now()
	until("there are scores", func() bool { return count() == 100 })
	first := s.Model()
	if at := first.Written; at.Before(began.Truncate(time.Millisecond)) || at.After(learned) {
		t.Errorf("the snapshot was written at %v, want between %v and %v", at, began, learned)
	}
	kafkatest.Fill(t, w.client, w.in, 1, rings(3, 2000, class))
	w.learn(t, w.in)
	until("it has switched", func() bool { return s.Model() != first })
	kafkatest.Fill(t, w.client, w.asked, 3, rings(4, 30, none))
	until("there are more scores", func() bool { return count() == 130 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	steps := map[float64]int{}
	for _, r := range kafkatest.Read(t, w.client, model.ScoresTopic(w.model)) {
		var v struct{ Step float64 }
		if err := json.Unmarshal(r.Value, &v); err != nil {
			t.Fatal(err)
		}
		steps[v.Step]++
	}
	if len(steps) != 2 {
		t.Errorf("scores name the steps %v, want two models", steps)
	}
}

// TestTheEndIsThatOfAllPartitions lets a member die that joined together with the
// scorer, while the scorer reaches the end of its own share.
func TestTheEndIsThatOfAllPartitions(t *testing.T) {
	if testing.Short() {
		t.Skip("10 s, most of which a broker takes to give a member up")
	}
	t.Parallel()
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	w.learn(t, w.in)
	kafkatest.Fill(t, w.client, w.asked, 4, rings(2, 200, none))
	member := func() *ingest.Member { return w.client.Member(w.model+"-scorer", []string{w.asked}) }
	if _, err := member().Join(t.Context()); err != nil { // this member sends no heartbeat, so that the next two members wait for each other
		t.Fatal(err)
	}
	dead := make(chan ingest.Share, 1)
	go func() {
		share, err := member().Join(t.Context())
		if err != nil {
			t.Error(err)
		}
		dead <- share
	}()
	s := w.scorer(true)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if share := <-dead; len(share[w.asked]) == 0 {
		t.Errorf("the one who dies had %v: this shows nothing", share)
	}
	if n := len(answers(kafkatest.Read(t, w.client, model.ScoresTopic(w.model)))); n != 200 {
		t.Errorf("%d records of 200 have a score", n)
	}
}

func TestScorerGoesOnWhereItStoppedAndQuarantinesGarbage(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 500, class))
	w.learn(t, w.in)
	kafkatest.Fill(t, w.client, w.asked, 1, append(rings(2, 20, none), `{"features":{"x":"far","y":1}}`, `no`))
	for range 2 {
		if err := w.scorer(true).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(kafkatest.Read(t, w.client, model.ScoresTopic(w.model))); n != 20 {
		t.Errorf("%d scores of 20 records in two runs", n)
	}
	q := kafkatest.Read(t, w.client, model.QuarantineTopic(w.model))
	if len(q) != 2 || kafkatest.Header(q[0], "__connect.errors.topic") != w.asked || kafkatest.Header(q[0], "__connect.errors.offset") != "20" {
		t.Errorf("in quarantine: %v", q)
	}
}

// TestPredictionOfSeveralTargetsIsAList checks that a prediction of several targets
// is a list, that one of a single target is a number, and that both are read back
// bit-identically.
func TestPredictionOfSeveralTargetsIsAList(t *testing.T) {
	e := record.NewEncoder(record.ModelID{Name: "arm"}, nil, ingest.DefaultMaxMessageBytes)
	for _, row := range [][]float64{{0.1}, {1. / 3, -1e-300, 1e30}} {
		y := learner.Label{Task: learner.Regression, Value: 2.5}
		if len(row) > 1 {
			y.More = []float64{-7, 5e-324}
		}
		r := e.Record(record.Example{Record: &ingest.Record{}, Label: y, Loss: 1, Graded: true}, learner.Regression, row)
		var got struct {
			Prediction, Label any
			Loss              float64
		}
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatalf("%v in %s", err, r.Value)
		}
		want := []any{any(row[0]), any(2.5)}
		if len(row) > 1 {
			want = []any{[]any{row[0], row[1], row[2]}, []any{2.5, -7., 5e-324}}
		}
		if !reflect.DeepEqual([]any{got.Prediction, got.Label}, want) || got.Loss != 1 {
			t.Errorf("%s reads as %v, want %v", r.Value, got, want)
		}
	}
}

// TestPredictionIsJSONWhateverTheNames decodes the encoder's JSON with
// encoding/json.
func TestPredictionIsJSONWhateverTheNames(t *testing.T) {
	classes := []string{"plain", "", `qu"ote\`, "line\nfeed\x00", "ünï\u2028"}
	id := record.ModelID{Name: `mo"del`, Step: 7, Lineage: [32]byte{1}, LearnedTo: []snapshot.Position{{Topic: "a", Next: 3}, {Topic: "a", Partition: 2, Next: 5}, {Topic: "b", Next: 9}}}
	e := record.NewEncoder(id, classes, ingest.DefaultMaxMessageBytes)
	row := []float64{1e-300, 0.25, 0.5, 0.25, 0}
	r := e.Record(record.Example{
		Topic: "a", Partition: 2, Record: &ingest.Record{Offset: 11, Time: 1_700_000_000_123, Key: []byte("k")},
		Label: learner.Label{Task: learner.Classification, Class: 3}, LabelName: classes[3], Loss: 1.5, Graded: true,
	}, learner.Classification, row)
	var got struct {
		Prediction    string
		Probabilities map[string]float64
		Label         string
		Loss          float64
		Model         string
		Step          int
		Lineage       string
		LearnedTo     string `json:"learned_to"`
	}
	d := json.NewDecoder(strings.NewReader(string(r.Value)))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in %s", err, r.Value)
	}
	if got.Prediction != classes[2] || got.Label != classes[3] || got.Loss != 1.5 || got.Model != id.Name || got.Step != 7 ||
		got.Lineage != id.Lineage.String() || got.LearnedTo != "421800f5db8c07eb" { // sha256sum of the lines a/0:3, a/2:5 and b/0:9
		t.Errorf("%s reads as %+v", r.Value, got)
	}
	for i, c := range classes {
		if got.Probabilities[c] != row[i] {
			t.Errorf("probability of %q is %v, want %v", c, got.Probabilities[c], row[i])
		}
	}
	if id, at := kafkatest.Header(r, "ce_id"), kafkatest.Header(r, "ce_time"); id != "a-2-11" || at != "2023-11-14T22:13:20.123Z" {
		t.Errorf("ce_id %q, ce_time %q", id, at)
	}
}
