package broker

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// faults is the cluster's logger, through which it learns what happens to the directory: that a
// batch could not be written, for example on a full disk, and that what could not be read has been
// discarded. After a failed write kfake counts the sequence numbers of the batch as used and would
// acknowledge the producer's retry as a duplicate of records that it does not have. Therefore the
// broker must reject all retries.
type faults struct {
	any       atomic.Bool
	first     chan error // has a buffer of one
	discarded []string   // while the directory is read, before Start returns
	started   atomic.Bool
}

func (f *faults) Logf(_ kfake.LogLevel, format string, args ...any) {
	if strings.HasPrefix(format, "persist batch") && !f.any.Swap(true) {
		f.first <- fmt.Errorf("broker: %s", strings.TrimPrefix(fmt.Sprintf(format, args...), "persist batch "))
	}
	if !f.started.Load() && (strings.Contains(format, "corrupt") || strings.Contains(format, "malformed")) {
		f.discarded = append(f.discarded, fmt.Sprintf(format, args...))
	}
}

// refuse closes the connection of any producer after a failed write. It runs
// before the request is handled, on the goroutine that reported the failure.
func (b *Broker) refuse(kmsg.Request) (kmsg.Response, error, bool) {
	if !b.faults.any.Load() {
		return nil, nil, false
	}
	b.cluster.KeepControl() // also for the next request
	return nil, errors.New("this broker could not write"), true
}
