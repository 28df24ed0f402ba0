package process

import "time"

// Clock returns a wall clock that starts at 0, in seconds.
func Clock() func() float64 {
	start := time.Now()
	return func() float64 { return time.Since(start).Seconds() }
}
