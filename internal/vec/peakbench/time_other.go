//go:build !linux

package main

import "time"

var start = time.Now()

// threadTime returns the seconds since the start. The standard library does not have the CPU time
// of a thread on this system.
func threadTime() float64 { return time.Since(start).Seconds() }
