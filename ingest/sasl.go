package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
)

// A credentialError is a mechanism's failure to get or use its credentials: a
// file cannot be read, or a server issues no token. A later attempt may succeed.
type credentialError struct{ error }

func (e credentialError) Unwrap() error { return e.error }

// A rejection is a broker's refusal to authenticate the client, in its own words.
type rejection struct {
	code kafka.Error
	text string
}

func (e rejection) Error() string { return fmt.Sprintf("%v: %s", answer(e.code), e.text) }

func (e rejection) Unwrap() error { return e.code }

// authenticate performs the SASL exchange on a new connection and returns how
// long the broker accepts requests on it (KIP-368); 0 means for ever.
func authenticate(ctx context.Context, conn net.Conn, m sasl.Mechanism, clientID, address string) (time.Duration, error) {
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
		defer conn.SetDeadline(time.Time{})
	}
	versions, err := exchange(conn, clientID, &kmsg.ApiVersionsRequest{}, responseLimit)
	if err != nil {
		return 0, err
	}
	auth := &kmsg.SASLAuthenticateRequest{}
	for _, k := range versions.(*kmsg.ApiVersionsResponse).ApiKeys {
		if k.ApiKey == auth.Key() {
			auth.Version = min(1, k.MaxVersion)
		}
	}
	hello, err := exchange(conn, clientID, &kmsg.SASLHandshakeRequest{Version: 1, Mechanism: m.Name()}, responseLimit)
	if err != nil {
		return 0, err
	}
	if r := hello.(*kmsg.SASLHandshakeResponse); r.ErrorCode != 0 {
		return 0, rejection{kafka.Error(r.ErrorCode), fmt.Sprintf("it supports %v", r.SupportedMechanisms)}
	}
	session, message, err := m.Authenticate(ctx, address)
	if err != nil {
		return 0, credentialError{err}
	}
	for {
		auth.SASLAuthBytes = message
		resp, err := exchange(conn, clientID, auth, responseLimit)
		if err != nil {
			return 0, err
		}
		r := resp.(*kmsg.SASLAuthenticateResponse)
		if r.ErrorCode != 0 {
			text := "without a reason"
			if r.ErrorMessage != nil {
				text = *r.ErrorMessage
			}
			return 0, rejection{kafka.Error(r.ErrorCode), text}
		}
		done, next, err := session.Challenge(r.SASLAuthBytes)
		if err != nil {
			return 0, rejection{kafka.SASLAuthenticationFailed, err.Error()}
		}
		if done {
			return sessionLifetime(r.SessionLifetimeMillis), nil
		}
		message = next
	}
}

// sessionLifetime returns the time for which a broker accepts requests on a connection; 0 for no limit.
func sessionLifetime(ms int64) time.Duration {
	return time.Duration(max(0, min(ms, math.MaxInt64/int64(time.Millisecond)))) * time.Millisecond
}

// errExpired reports that the broker is about to stop accepting requests on the
// connection. Nothing was sent, and another connection will do.
var errExpired = errors.New("the session of the connection expires")

// expire records how long the broker accepts requests on the connection. The client
// uses the connection for four fifths of that time, so that its last request still
// arrives within the rest.
func (t *trackedConn) expire(lifetime time.Duration) {
	if lifetime > 0 {
		t.expires = time.Now().Add(lifetime / 5 * 4)
	}
}

func (t *trackedConn) expired() bool { return !t.expires.IsZero() && time.Now().After(t.expires) }
