package main

import (
	"testing"
	"time"
)

// Records come at the rate, and after a stall of several seconds no faster than before it.
func TestFeedKeepsItsRateAfterAStall(t *testing.T) {
	p, now := pace{rate: 100}, time.Unix(1e9, 0)
	count := func(during time.Duration) (n int) {
		for end := now.Add(during); now.Before(end); n++ {
			now = now.Add(max(0, p.next(now)))
		}
		return n
	}
	if n := count(time.Second); n < 99 || n > 101 {
		t.Errorf("%d records in a second", n)
	}
	now = now.Add(500 * time.Millisecond)
	if n := count(time.Second); n < 148 || n > 152 {
		t.Errorf("%d records in the second after half a second: these are to be caught up with", n)
	}
	now = now.Add(time.Minute)
	if n := count(time.Second); n < 99 || n > 101 {
		t.Errorf("%d records in the second after a minute", n)
	}
	if p := (pace{}); p.next(now) != 0 {
		t.Error("it waits without a rate")
	}
}
