package watch

import (
	"testing"
	"time"
)

// If labels have arrived every second, their absence is reported after 25 s; if they have
// arrived every minute, after 20 minutes; and if there have never been any, not at all.
func TestLabelsThatEndAreReported(t *testing.T) {
	for _, c := range []struct {
		every   time.Duration // between batches with labels, for an hour
		silence time.Duration
		want    string
	}{
		{time.Second, 25 * time.Second, ""},
		{time.Second, 26 * time.Second, "no labels for 26s: 52 records were predicted since, and nothing was learned"},
		{time.Minute, 20 * time.Minute, ""},
		{time.Minute, 20*time.Minute + time.Second, "no labels for 20m1s: 2402 records were predicted since, and nothing was learned"},
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
