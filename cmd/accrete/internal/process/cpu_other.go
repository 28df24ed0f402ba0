//go:build !unix

package process

import "time"

var begun = time.Now()

// CPUSeconds returns the time since the process started, on platforms without a
// measure of processor time.
func CPUSeconds() float64 { return time.Since(begun).Seconds() }
