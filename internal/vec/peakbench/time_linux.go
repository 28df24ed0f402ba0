package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time of this thread in seconds.
func threadTime() float64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return float64(time.Now().UnixNano()) / 1e9
	}
	return float64(t.Nano()) / 1e9
}
