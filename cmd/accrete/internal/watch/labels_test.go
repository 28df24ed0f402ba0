package watch

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// If labels have arrived every second, their absence is reported after 25 s of records without them; if
// they have arrived every minute, after 20 minutes; and if there have never been any, not at all.
func TestLabelsThatEndAreReported(t *testing.T) {
	for _, c := range []struct {
		every   time.Duration // between batches with labels, for an hour
		silence time.Duration
		want    string
	}{
		{time.Second, 26 * time.Second, ""},
		{time.Second, 27 * time.Second, "no labels for 27s: 54 records were predicted since, and nothing was learned"},
		{time.Minute, 20*time.Minute + time.Second, ""},
		{time.Minute, 20*time.Minute + 2*time.Second, "no labels for 20m2s: 2404 records were predicted since, and nothing was learned"},
		{0, time.Hour, ""},
	} {
		var l labelled
		now := time.Unix(1e9, 0)
		if c.every > 0 {
			for end := now.Add(time.Hour); now.Before(end); now = now.Add(c.every) {
				if got := l.observe(10, 0, now); got != "" {
					t.Errorf("labels every %v: %s", c.every, got)
				}
			}
			now = now.Add(-c.every)
		}
		got := ""
		for end := now.Add(c.silence); now.Before(end); {
			now = now.Add(time.Second)
			got = l.observe(0, 2, now)
		}
		if got != c.want {
			t.Errorf("labels every %v, then none for %v: %q, want %q", c.every, c.silence, got, c.want)
		}
		if got := l.observe(1, 0, now); got != "" {
			t.Errorf("labels again: %s", got)
		}
	}
}

// A single record without a label, or one that is invalid, says nothing after an hour without records.
func TestQuietTopicsLackNoLabels(t *testing.T) {
	var l labelled
	now := time.Unix(1e9, 0)
	for range 100 {
		now = now.Add(time.Second)
		l.observe(10, 0, now)
	}
	now = now.Add(time.Hour)
	for _, predicted := range []int64{0, 1} {
		if got := l.observe(0, predicted, now); got != "" {
			t.Errorf("%d records were predicted: %s", predicted, got)
		}
		now = now.Add(time.Second)
	}
	if got := l.observe(0, 1, now.Add(25*time.Second)); got == "" {
		t.Error("25 s of records without labels are not reported")
	}
}

// A model that has never had a label, as with a misspelt input.label, is warned of once: after
// 1,000 records, or at the end of a shorter run. One that waits for late labels is not.
func TestRecordsWithoutAnyLabelAreWarnedOf(t *testing.T) {
	for _, c := range []struct {
		name    string
		batches int
		before  int64 // examples
		late    *join.Status
		want    string
	}{
		{"many records", 30, 0, nil, `"records":1000`},
		{"a short run", 2, 0, nil, `"records":200`},
		{"no records", 0, 0, nil, ""},
		{"a model that has learned", 30, 5, nil, ""},
		{"late labels", 30, 0, &join.Status{}, ""},
	} {
		var b bytes.Buffer
		w := New("m", zerolog.New(&b), prometheus.NewRegistry(), metrics.NewHealth(time.Now))
		progress := learner.Progress{Examples: c.before}
		w.Event(event.Replayed{Progress: progress})
		for range c.batches {
			learned := event.Learned{Progress: progress, Kept: event.Kept{Late: c.late}}
			learned.Counts.Predicted = 100
			w.Event(learned)
		}
		w.Stopped()
		if got := strings.Count(b.String(), "check input.label"); got != min(1, len(c.want)) || !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: logged %q, want %q once", c.name, b.String(), c.want)
		}
	}
}
