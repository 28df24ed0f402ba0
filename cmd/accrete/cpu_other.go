//go:build !unix

package main

import "time"

var begun = time.Now()

// cpuSeconds is the time that this process has run, where nobody tells how much
// of it was on a processor.
func cpuSeconds() float64 { return time.Since(begun).Seconds() }
