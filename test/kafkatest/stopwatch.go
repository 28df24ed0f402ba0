package kafkatest

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// A Stopwatch measures for limits that a program keeps on a machine which has a processor
// for it: where Linux tells, the time in which processes waited for one does not count. That
// includes threads of the program itself that wait for each other's processor: a limit finds a
// program that waits too long, and one that computes on all processors only at ten times that.
type Stopwatch struct {
	began  time.Time
	waited time.Duration
}

// NewStopwatch returns a Stopwatch that has begun.
func NewStopwatch() Stopwatch { return Stopwatch{time.Now(), waited()} }

// Elapsed returns the time since the beginning, without waiting for processors. At least a
// tenth of the time counts, so that a limit is reached on every machine.
func (s Stopwatch) Elapsed() time.Duration {
	all := time.Since(s.began)
	return max(all-(waited()-s.waited), all/10)
}

// waited returns for how long some process of this machine was waiting for a processor
// since its start, 0 if the machine does not tell.
func waited() time.Duration {
	pressure, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0
	}
	some, _, _ := bytes.Cut(pressure, []byte("\n"))
	_, total, _ := bytes.Cut(some, []byte("total="))
	us, err := strconv.ParseInt(string(total), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(us) * time.Microsecond
}
