//go:build failpoints

package ingest

import (
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
)

// failAt is the step of input or output at which this process kills itself. Step 1
// is just before its first request, and step 2 just after the response.
var (
	failAt, _ = strconv.ParseInt(os.Getenv("ACCRETE_FAILPOINT"), 10, 64)
	steps     atomic.Int64
)

func failpoint() {
	if steps.Add(1) == failAt {
		syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {} // until the signal arrives
	}
}
