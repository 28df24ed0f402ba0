package ingest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
)

// A handshakeError is the error of a TLS handshake that one side rejected.
type handshakeError struct{ error }

func (e handshakeError) Unwrap() error { return e.error }

// handshake begins TLS on conn, as a client of the host in address. Its error is a
// handshakeError if one side rejects the other. Any other error means that the
// connection broke before it was known whether either side would reject the other.
func handshake(ctx context.Context, conn net.Conn, config *tls.Config, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	config = config.Clone()
	config.ServerName = host
	t := tls.Client(conn, config)
	if err := t.HandshakeContext(ctx); err != nil {
		conn.Close()
		if refuses(err) {
			return nil, handshakeError{err}
		}
		return nil, err
	}
	return t, nil
}

// refusals are the alerts with which one side rejects the other (RFC 8446,
// section 6.2). After any other alert, a new attempt may succeed.
var refusals = []tls.AlertError{
	40,                 // handshake_failure
	42, 43, 44, 45, 46, // about a certificate
	48,  // unknown_ca
	49,  // access_denied
	70,  // protocol_version
	71,  // insufficient_security
	112, // unrecognized_name
	116, // certificate_required
	120, // no_application_protocol
}

// refuses reports whether one side rejected the handshake, as opposed to a
// connection that broke.
func refuses(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) {
		return alerted(err)
	}
	var timeout net.Error
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, net.ErrClosed),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return false
	}
	return true
}

// alerted reports whether the other side sent one of the refusals. With TLS 1.3, a
// server that requires a client certificate sends the alert after the handshake.
func alerted(err error) bool {
	var op *net.OpError
	// The alert type of crypto/tls in op.Err is not exported; its text is the same.
	return errors.As(err, &op) && op.Op == "remote error" &&
		slices.ContainsFunc(refusals, func(a tls.AlertError) bool { return op.Err.Error() == a.Error() })
}
