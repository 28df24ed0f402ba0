package broker

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// faults hears, as the cluster's logger, that a batch could not be written, as
// on a full disk. kfake counts the batch's sequence numbers as used all the
// same, and would ack the producer's next attempt as a duplicate of records
// that it does not have: so there must be no next attempt.
type faults struct {
	any   atomic.Bool
	first chan error // has room for it
}

func (f *faults) Logf(_ kfake.LogLevel, format string, args ...any) {
	if strings.HasPrefix(format, "persist batch") && !f.any.Swap(true) {
		f.first <- fmt.Errorf("broker: %s", strings.TrimPrefix(fmt.Sprintf(format, args...), "persist batch "))
	}
}

// refuse ends the connection of whoever produces after a fault. It runs before
// the request is looked at, on the goroutine on which the fault was.
func (b *Broker) refuse(kmsg.Request) (kmsg.Response, error, bool) {
	if !b.faults.any.Load() {
		return nil, nil, false
	}
	b.cluster.KeepControl() // for the next request as well
	return nil, errors.New("this broker could not write"), true
}
