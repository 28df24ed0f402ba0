//go:build !unix

package main

import "time"

var begun = time.Now()

// cpuSeconds returns the time since the process started, on platforms without a
// measure of processor time.
func cpuSeconds() float64 { return time.Since(begun).Seconds() }
