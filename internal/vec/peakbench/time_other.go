//go:build !linux

package main

import "time"

var start = time.Now()

// threadTime is the seconds since the start: a thread's own time takes more
// than the standard library here.
func threadTime() float64 { return time.Since(start).Seconds() }
