package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// fixture is a page with a board and metrics. Both receive every event.
type fixture struct {
	board    *Board
	health   *metrics.Health
	registry *prometheus.Registry
	watch    *watch.Watch
	server   *httptest.Server
	page     *Page
}

func newFixture(t *testing.T, model string) *fixture {
	t.Helper()
	f := &fixture{board: NewBoard(time.Now), health: metrics.NewHealth(time.Now), registry: prometheus.NewRegistry()}
	f.watch = watch.New(model, zerolog.Nop(), f.registry, f.health)
	f.page = New(Info{Model: model, Version: "v1", Health: f.health, Options: []config.Value{{Key: "kafka.sasl.password", Text: "***"}}}, f.board, f.registry)
	f.page.every = 5 * time.Millisecond
	mux := http.NewServeMux()
	f.page.Register(mux)
	f.server = httptest.NewServer(mux)
	t.Cleanup(func() {
		f.page.Close()
		f.server.Close()
	})
	return f
}

func (f *fixture) event(ev event.Event) {
	f.watch.Event(ev)
	f.board.Learner(ev)
}

func (f *fixture) get(t *testing.T, path string) (string, http.Header) {
	t.Helper()
	r, err := http.Get(f.server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, r.Status, err)
	}
	return string(b), r.Header
}

// progress is that of a learner after n examples.
func progress(n int64, err float64) learner.Progress {
	s := learner.Scores{Rows: n, Model: learner.Score{Error: err, Loss: err}, Linear: learner.Score{Error: 0.25}, Majority: learner.Score{Error: 0.5}, NoChange: learner.Score{Error: 0.75}}
	return learner.Progress{Task: learner.Classification, Examples: n, Step: n / 32, Features: 64, Kernel: "gaussian:1.10203508389860", Whole: s, Recent: s, Latest: s}
}

// trouble is a history with something for every section.
func (f *fixture) trouble() {
	f.event(event.Claimed{Epoch: 3})
	f.event(event.Replayed{Batches: 2, Progress: progress(1000, 0.2)})
	for i := int64(1); i <= 20; i++ {
		p := progress(1000+100*i, 0.2/float64(i))
		p.Inputs = &learner.Inputs{Rows: i, Compared: i, Distance: 1.5, Alarms: 1}
		p.Drifts.ADWIN = i / 10
		f.event(event.Learned{Counts: modellog.Counts{Learned: 100, Quarantined: 1}, Append: time.Millisecond, Learn: 3 * time.Millisecond, Progress: p})
	}
	f.event(event.Lag{Topic: "in", Partition: 1, First: 100, Next: 500, End: 1234, Stable: 1200})
	f.event(event.Published{Records: 1999})
	f.event(event.Saved{Step: 5, Bytes: 1 << 20, StateHash: snapshot.Hash{0xab}})
	f.event(event.Shifted{Columns: []string{"a", "b"}})
	f.event(event.Retrying{Err: errors.New("connection refused")})
	f.event(event.Quarantining{Bad: []event.Bad{{Topic: "in", Partition: 1, First: 7, Last: 9, Records: 2, Err: errors.New("not JSON"), Sample: []byte(`{"a"`)}}})
	f.event(event.Memory{Limit: 1 << 30})
}

// gauges returns the values of /metrics by name and the values of their labels but the model.
func (f *fixture) gauges(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := f.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, m := range families {
		for _, x := range m.Metric {
			name := m.GetName()
			for _, l := range x.Label {
				if l.GetName() != "model" {
					name += " " + l.GetValue()
				}
			}
			values[name] = x.GetGauge().GetValue() + x.GetCounter().GetValue()
		}
	}
	return values
}

// The error is marked as good if it is below those of all baselines, not only of the linear one.
func TestAGoodErrorIsBelowAllBaselines(t *testing.T) {
	for majority, good := range map[float64]bool{0.5: true, 0.1: false} {
		f := newFixture(t, "m")
		p := progress(1000, 0.2)
		p.Recent.Majority.Error = majority
		f.event(event.Learned{Counts: modellog.Counts{Learned: 1000}, Progress: p})
		if html, _ := f.get(t, "/"); strings.Contains(html, `<div class="tile good"><h3>error</h3>`) != good {
			t.Errorf("an error of 0.2 beside %v is good: %v, want %v", majority, !good, good)
		}
	}
}

// Novelty detection has no baselines: 0 would be less than any share of records that are flagged, as if a
// linear model were always better.
func TestNoveltyHasNoBaselines(t *testing.T) {
	f := newFixture(t, "m")
	for _, n := range []int64{1000, 2000} {
		p := progress(n, 0.05)
		p.Task = learner.Novelty
		p.Recent.Linear, p.Recent.Majority, p.Recent.NoChange = learner.Score{}, learner.Score{}, learner.Score{}
		p.Latest = p.Recent
		f.event(event.Learned{Counts: modellog.Counts{Learned: 1000}, Progress: p})
	}
	text, _ := f.get(t, "/")
	if !strings.Contains(text, "Progressive share of records flagged") || !strings.Contains(text, "records since the model was created") || strings.Contains(text, "linear") || strings.Contains(text, "labelled examples") {
		t.Errorf("the page names baselines or labels: %s", text)
	}
	var s Status
	text, _ = f.get(t, "/status")
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Error == nil || *s.Error != 0.05 || s.Linear != nil {
		t.Errorf("%s, %v", text, err)
	}
	errors := 0
	for name := range f.gauges(t) {
		if strings.HasPrefix(name, "accrete_progressive_error ") {
			errors++
		}
	}
	if r := f.watch.Current(); errors != 1 || r.Progressive == nil || r.Baselines != nil {
		t.Errorf("%d series of errors, and the report has the baselines %v", errors, r.Baselines)
	}
}

// A standby shows the step that it has reached, and not 0 until it takes over.
func TestAStandbyShowsItsStep(t *testing.T) {
	f := newFixture(t, "m")
	f.event(event.StandingBy{Owner: "other", Seq: 3, Step: 7})
	var s Status
	text, _ := f.get(t, "/status")
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Role != "standby" || s.Step != 7 {
		t.Errorf("%s, %v", text, err)
	}
	if step := f.gauges(t)["accrete_step"]; step != 7 {
		t.Errorf("accrete_step is %v", step)
	}
	if r := f.watch.Current(); r.Step != 7 {
		t.Errorf("the report has step %d", r.Step)
	}
}

func TestNumbersEqualThoseOfMetrics(t *testing.T) {
	f := newFixture(t, "m")
	f.trouble()
	html, _ := f.get(t, "/")
	values := f.gauges(t)
	for id, name := range map[string]string{
		"error": "accrete_progressive_error", "lag": "accrete_lag_records", "step": "accrete_step", "features": "accrete_features",
		"predictions": "accrete_predictions_total", "quarantined": "accrete_examples_total quarantined",
	} {
		_, rest, found := strings.Cut(html, `id="v-`+id+`" value="`)
		text, _, _ := strings.Cut(rest, `"`)
		var got float64
		if _, err := fmt.Sscan(text, &got); !found || err != nil {
			t.Errorf("%s: %q, %v", id, text, err)
		}
		equal := false
		for k, v := range values {
			equal = equal || strings.HasPrefix(k, name) && v == got
		}
		if !equal || got == 0 {
			t.Errorf("%s is %v, but /metrics has another %s", id, got, name)
		}
	}
}

func TestPageShowsWhatHasHappened(t *testing.T) {
	f := newFixture(t, "fraud")
	f.health.Add("test", "the disk is full")
	f.trouble()
	html, _ := f.get(t, "/")
	for _, want := range []string{
		"<title>fraud · Accrete</title>", "not ready", "the disk is full", "in/1", "734", "34 in an open transaction", "1.00 MiB", "ab0000000000", "gaussian:1.102<",
		"not JSON", "{&#34;a&#34;", "offsets 7 to 9", "retrying: connection refused", "the inputs have changed: a, b", "1.50", "drift: the error has grown", "batches replayed: 2",
		"kafka.sasl.password", "***", `class="drift" d="M`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("it does not show %q", want)
		}
	}
	status, _ := f.get(t, "/status")
	var s Status
	if err := json.Unmarshal([]byte(status), &s); err != nil || s.Ready || s.Examples != 3000 || s.Lag != 734 || s.Drifts != 2 || len(s.Errors) == 0 || s.Hash == "" {
		t.Errorf("%+v, %v", s, err)
	}
}

// What is served, the last comparison of the gate with what it decided, and the columns are
// displayed.
func TestPageShowsWhatIsServed(t *testing.T) {
	f := newFixture(t, "m")
	f.page.info.Options = append(f.page.info.Options, config.Value{Key: "gate.metric", Text: "loss"})
	asked := make(chan struct{}, 9)
	f.page.info.Importances = func(context.Context) ([]Importance, int64, error) {
		asked <- struct{}{}
		return []Importance{{Name: "amount", Index: 0.75}, {Name: evil, Index: 0.25}}, 4321, nil
	}
	html, _ := f.get(t, "/")
	for _, want := range []string{"Nothing is served before the first snapshot", "Known once there is a snapshot"} {
		if !strings.Contains(html, want) {
			t.Errorf("before a snapshot it does not show %q", want)
		}
	}
	champion := modellog.Ref{Step: 1000, Offset: 7}
	f.event(event.Serving{Choice: modellog.Choice{Mode: modellog.Follow, Snapshot: champion}})
	f.event(event.Saved{Step: 2000, StateHash: snapshot.Hash{1}, Gate: &modellog.Gate{Metric: "loss", Rows: 5000, Loss: 0.5, Served: 0.4, WorseThan: 0.05, Champion: champion}})
	f.get(t, "/")
	<-asked
	f.page.work.Wait()
	html, _ = f.get(t, "/")
	for _, want := range []string{
		"follow</span> step <b>1,000", "newest snapshot has step 2,000", ">0.4000<", ">0.5000<", "Refused 0 s ago", "over 5,000 labelled records", "at most 0.4200",
		"<code>amount</code>", "75.0 %", "H1000", "H333", "step 4,321", "the snapshot of step 2,000 is refused by the gate",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("it does not show %q", want)
		}
	}
	if strings.Contains(html, evil) || len(asked) > 0 {
		t.Error("a column is markup, or importances of the same snapshot were computed again")
	}
	f.event(event.Serving{Choice: modellog.Choice{Mode: modellog.Hold, Snapshot: champion, Reason: "too <b>many</b> false alarms", By: "anna"}})
	html, _ = f.get(t, "/")
	for _, want := range []string{"hold</span>", "until accrete promote", "By <b>anna</b>: too &lt;b&gt;many", "hold: the snapshot of step 1,000 is served, chosen by anna"} {
		if !strings.Contains(html, want) {
			t.Errorf("after a hold it does not show %q", want)
		}
	}
}

const evil = `"'><script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202e"

// A name from outside is text, wherever it is displayed.
func TestHostileNamesStayText(t *testing.T) {
	f := newFixture(t, evil)
	f.health.Add(evil, evil)
	f.trouble()
	f.event(event.Lag{Topic: evil, End: 1})
	f.event(event.Shifted{Columns: []string{evil}})
	f.event(event.Columns{Gone: []string{evil}, New: []string{evil}, Missing: 1})
	f.event(event.NewClasses{Number: 1, Names: []string{evil}, Known: 3})
	f.event(event.Misread{Texts: []string{evil}, Classes: 2})
	f.event(event.Quarantining{Bad: []event.Bad{{Topic: evil, Err: errors.New(evil), Sample: []byte(evil + "\xff\x00")}}})
	f.event(event.Damaged{ID: evil, Err: errors.New(evil)})
	html, header := f.get(t, "/")
	frame, err := f.page.current()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range frame.html {
		html += part
	}
	for _, bad := range []string{"<script>alert", "<img src=x", "onerror=alert(1)>", "\x00", "\xff"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for _, note := range []string{"categories that look like texts", "2 different labels, learned as values"} {
		if !strings.Contains(html, note) {
			t.Errorf("the page has no note %q", note)
		}
	}
	if strings.Count(html, "&lt;script&gt;alert(1)") < 10 {
		t.Error("it does not display the names")
	}
	for _, directive := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(header.Get("Content-Security-Policy"), directive) {
			t.Errorf("the policy is %q", header.Get("Content-Security-Policy"))
		}
	}
	for _, inline := range []string{" style=", " onclick=", "<style", "javascript:", "//", "<script>"} {
		if strings.Contains(strings.ReplaceAll(html, "</", ""), inline) {
			t.Errorf("the page contains %q, which the policy forbids", inline)
		}
	}
}

// After a restart the curve is the one before it, and continues.
func TestHistorySurvivesARestart(t *testing.T) {
	before, after := newFixture(t, "m"), newFixture(t, "m")
	before.trouble()
	line := before.board.line.Clone()
	after.event(event.Replayed{Progress: before.board.progress, Timeline: line, Snapshots: []*modellog.Manifest{{Step: 9, Size: 1000, StateHash: snapshot.Hash{0xcd}, Time: time.Now().Add(-time.Hour).UnixMilli()}}})
	for _, f := range []*fixture{before, after} {
		p := progress(4000, 0.3)
		p.Drifts.ADWIN = 2
		f.event(event.Learned{Counts: modellog.Counts{Learned: 1000}, Progress: p})
	}
	chart := func(f *fixture) (c chart) { return newChart(&f.board.line, [4]float64{}, learner.Classification) }
	if a, b := chart(before), chart(after); a.Series[0].Path != b.Series[0].Path || !strings.Contains(a.Series[0].Path, "L") {
		t.Errorf("%v\nthen\n%v", a.Series, b.Series)
	}
	if html, _ := after.get(t, "/"); !strings.Contains(html, "cd0000000000") || !strings.Contains(html, "1 h 00 min ago") {
		t.Error("it does not show the snapshot of the run before")
	}
}

// Memory is bounded, whatever happens and however often.
func TestBoardIsBounded(t *testing.T) {
	f := newFixture(t, "m")
	for i := range int64(3000) {
		f.board.Learner(event.Learned{Counts: modellog.Counts{Learned: 1}, Learn: time.Duration(i), Progress: progress(i+1, 0.1)})
		f.board.Learner(event.Retrying{Err: fmt.Errorf("error %d", i)})
		f.board.Learner(event.Saved{Step: i})
		f.board.Learner(event.Quarantining{Bad: []event.Bad{{Err: errors.New(strings.Repeat("x", 1000)), Sample: bytes.Repeat([]byte("y"), 1000)}}})
		f.board.Tick()
	}
	b := f.board
	if len(b.history.values) != seconds || len(b.notes.values) != mostNotes || len(b.bad.values) != mostRows || len(b.snapshots.values) != mostRows || len(b.latencies.values) != timings || len(b.line.Points) > timeline.MostPoints {
		t.Error("a list has grown")
	}
	if html, _ := f.get(t, "/"); len(html) > 100<<10 {
		t.Errorf("the page has %d bytes", len(html))
	}
}

// The age of a snapshot is the same on the page of a scorer, which may have started later.
func TestScorerShowsTheAgeOfTheSnapshot(t *testing.T) {
	f := newFixture(t, "m")
	to := &serve.Served{Written: time.Now().Add(-90*time.Minute - 30*time.Second)}
	to.Schema.Task = learner.Regression.String()
	f.board.Scorer(serve.Switched{To: to})
	if html, _ := f.get(t, "/"); !strings.Contains(html, "Progressive nMSE") {
		t.Error("the error is not that of the task")
	}
	html, _ := f.get(t, "/")
	if !strings.Contains(html, "<td>1 h 30 min ago</td>") {
		t.Errorf("want a snapshot that is 90 minutes old:\n%s", html)
	}
	if strings.Contains(html, "Known once there is a snapshot") { // the log cannot be read, say
		t.Error("columns wait for a snapshot that is there")
	}
}

// Warnings that come again and again, of several parts of a program in turn, do not displace
// the other events.
func TestRepeatedWarningsAreCounted(t *testing.T) {
	f := newFixture(t, "m")
	f.event(event.Paused{Why: &modellog.Pause{Bad: 600, Of: 1000, Reason: "no label"}})
	for range 20 {
		f.board.Scorer(serve.Retrying{Err: errors.New("no broker")})
		f.event(event.Retrying{Err: errors.New("no broker")})
	}
	html, _ := f.get(t, "/")
	for _, want := range []string{"paused: 600 of the last 1000", "no label; fix the cause, then run accrete resume", "scorer: retrying: no broker", "20 times"} {
		if !strings.Contains(html, want) {
			t.Errorf("want %q:\n%s", want, html)
		}
	}
	if n := strings.Count(html, "retrying: no broker"); n != 2 {
		t.Errorf("%d warnings, want 2", n)
	}
}

// The weights of the members and what the stacks have make 1.
func TestPageShowsTheShareOfTheStacks(t *testing.T) {
	f := newFixture(t, "m")
	p := progress(1000, 0.1)
	p.Mixture = &learner.MixtureScores{Members: []learner.MemberScore{{Name: "newton", Weight: 0.75, Scorer: 1}}, Stacked: 0.25}
	f.event(event.Learned{Progress: p})
	if html, _ := f.get(t, "/"); !strings.Contains(html, "the rest of the weight in the learner, 0.2500, is that of the stacks") {
		t.Errorf("want the share of the stacks:\n%s", html)
	}
}
