package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestTransactionThatHangsIsToldFromThoseThatPass(t *testing.T) {
	c := newClock()
	r := prometheus.NewRegistry()
	b := NewLearner("m", r).Blocked
	b.now = c.now
	check := func(when, want string, got string) {
		t.Helper()
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	check("nothing open", "", b.Set("in", 0, 10, 10))
	for range 10 { // one transaction after another
		c.pass(20 * time.Second)
		check("the next one", "", b.Set("in", 0, 10+c.t.Unix(), 1<<40))
	}
	stands := 10 + c.t.Unix()
	c.pass(31 * time.Second)
	check("31 s later", "in/0: a transaction that begins at offset", b.Set("in", 0, stands, 1<<40))
	check("another partition is well", "in/0", b.Set("in", 1, 7, 7))
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "accrete_blocked_seconds" && (f.Metric[0].Gauge.GetValue() != 31 || f.Metric[1].Gauge.GetValue() != 0) {
			t.Errorf("accrete_blocked_seconds: %v", f.Metric)
		}
	}
	check("it is over", "", b.Set("in", 0, 1<<40, 1<<40))
	b.Set("in", 0, 5, 6)
	c.pass(time.Hour)
	check("read by another scorer", "", b.Keep(func(string, int) bool { return false }))
	if families, err = r.Gather(); err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "accrete_blocked_") {
			t.Errorf("%s has partitions that other scorers read: %v", f.GetName(), f.Metric)
		}
	}
}
