package ingest

import (
	"errors"
	"io"
	"net"
)

// An endedError is the error of a connection that was opened before the call and has
// ended, for example because its broker was restarted. A broker may be available again
// now.
type endedError struct{ error }

func (e endedError) Unwrap() error { return e.error }

// classify marks err as an endedError if the connection was opened before the call and the
// other side has closed it.
func (c *call) classify(on *trackedConn, err error) error {
	if on != nil && on.number <= c.opened && ended(err) {
		return endedError{err}
	}
	return err
}

// ended reports whether err says that the other side has closed or reset the connection.
func ended(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) {
		return (op.Op == "read" || op.Op == "write") && !op.Timeout()
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe)
}

// idempotent lists the requests that can be sent twice without harm. Fetch is missing,
// because the callers of Poll retry.
var idempotent = map[int16]bool{
	2:  true, // ListOffsets
	3:  true, // Metadata
	9:  true, // OffsetFetch
	10: true, // FindCoordinator
	19: true, // CreateTopics: a topic that exists is left unchanged
	21: true, // DeleteRecords
	23: true, // OffsetForLeaderEpoch
	32: true, // DescribeConfigs
	44: true, // IncrementalAlterConfigs: only the operation SET is used
}

// again reports whether to send the call once more after err. The Transport has closed
// the connection that failed, so this ends after all connections that were open before
// the call.
func (c *call) again(err error) bool {
	if errors.Is(err, errExpired) { // nothing was written yet
		return true
	}
	var old endedError
	if !errors.As(err, &old) || !idempotent[c.req.Key()] {
		return false
	}
	c.sent.Store(waiting) // the goroutine of the connection has released the call
	return true
}
