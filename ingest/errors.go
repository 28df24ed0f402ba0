package ingest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
)

// Sentinel errors, for use with errors.Is. GapError and PastEnd are types.
var (
	ErrUnreachable  = errors.New("broker unreachable")
	ErrUnknownTopic = errors.New("unknown topic")
	ErrDenied       = errors.New("not authorized")
	ErrCorrupt      = errors.New("corrupt data from the broker")
	ErrTooLarge     = errors.New("too large")
	ErrRejected     = errors.New("rejected by the topic")
	ErrClosed       = errors.New("client is closed")
	// ErrAmbiguous reports that the broker may or may not have stored the records.
	// Only reading the topic can tell.
	ErrAmbiguous = errors.New("it is unknown whether the broker stored it")

	errStale     = errors.New("the client's metadata is out of date")
	errThrottled = errors.New("a quota of the cluster for this user or client.id throttles this client: see kafka-configs --describe --entity-type users, or clients")
)

// GapError is the error for records [Want, LogStart) that were deleted from the
// topic, by its retention or by an administrator, before they were read.
type GapError struct {
	Topic          string
	Partition      int
	Want, LogStart int64
}

func (e *GapError) Error() string {
	return fmt.Sprintf("topic %s partition %d: records %d to %d were deleted before they were read (its retention is shorter than the lag)",
		e.Topic, e.Partition, e.Want, e.LogStart-1)
}

// PastEnd is the error for a partition that ends before the requested offset: it
// was truncated, or the topic was deleted and created again.
type PastEnd struct {
	Topic     string
	Partition int
	Want, End int64
}

func (e *PastEnd) Error() string {
	return fmt.Sprintf("topic %s partition %d: it ends at record %d, before record %d: truncated, or created again",
		e.Topic, e.Partition, e.End, e.Want)
}

// Temporary reports whether a retry may succeed without intervention, as for a
// broker that is down or moves a partition, or a topic that does not exist yet. A
// caller that cannot wait for a broker or a topic checks for ErrUnreachable and
// ErrUnknownTopic first.
func Temporary(err error) bool {
	var lost *GapError
	var past *PastEnd
	var code kafka.Error
	var dns *net.DNSError
	switch {
	case err == nil,
		errors.Is(err, context.Canceled),
		errors.Is(err, ErrDenied), errors.Is(err, ErrCorrupt), errors.Is(err, ErrTooLarge), errors.Is(err, ErrClosed),
		errors.As(err, &lost), errors.As(err, &past):
		return false
	case errors.Is(err, ErrUnreachable), errors.Is(err, ErrUnknownTopic), errors.Is(err, errStale), errors.Is(err, errThrottled),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &dns):
		return true
	case errors.As(err, &code):
		return transient(code)
	}
	var op *net.OpError
	var record tls.RecordHeaderError // after the handshake: bytes were lost or changed in transit
	return errors.As(err, &op) || errors.As(err, &record) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

func transient(code kafka.Error) bool {
	switch code {
	case kafka.InvalidMessage: // a fault of our encoder: it would be rejected again
		return false
	case kafka.Unknown, kafka.BrokerNotAvailable, kafka.ReplicaNotAvailable, kafka.OutOfOrderSequenceNumber,
		59 /* UNKNOWN_PRODUCER_ID */, kafka.InvalidProducerEpoch, kafka.ConcurrentTransactions:
		return true
	}
	return code.Temporary()
}

// moved reports whether err may come from a broker that no longer leads the
// partition.
func moved(err error) bool {
	var code kafka.Error
	if errors.As(err, &code) {
		switch code {
		case kafka.NotLeaderForPartition, kafka.LeaderNotAvailable, kafka.UnknownTopicOrPartition, kafka.ReplicaNotAvailable,
			kafka.FencedLeaderEpoch, kafka.UnknownLeaderEpoch, kafka.KafkaStorageError, kafka.BrokerNotAvailable:
			return true
		}
		return false
	}
	return Temporary(err)
}

// lasting returns an error of a connection without the local port. The same problem then has the
// same text on every connection, so that it can be counted instead of reported each time.
func lasting(err error) error {
	var overdue overdueError
	if errors.As(err, &overdue) { // the errors that use lasting say more
		err = overdue.error
	}
	var old endedError
	if errors.As(err, &old) {
		err = old.error
	}
	op, ok := err.(*net.OpError)
	if !ok || op.Source == nil {
		return err
	}
	same := *op
	same.Source = nil
	return &same
}

// overdueError means that the deadline of the caller has passed. Whether a broker can be reached is open:
// for a caller that decides on it, it is ErrUnreachable.
type overdueError struct {
	brokers string
	atOnce  bool // before the request
	error
}

func (e overdueError) Error() string {
	return fmt.Sprintf("the caller's deadline passed before %s answered (%v)", e.brokers, e.error)
}
func (e overdueError) Unwrap() error        { return e.error }
func (e overdueError) Is(target error) bool { return target == ErrUnreachable }

// overdue returns err as an overdueError if it is because the deadline of the caller has passed.
func (c *Client) overdue(caller context.Context, atOnce bool, err error) error {
	if caller.Err() == context.DeadlineExceeded && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)) {
		return overdueError{c.brokers(), atOnce, lasting(err)}
	}
	return err
}

// explain turns an error of the transport into one that names a remedy.
func (c *Client) explain(err error) error {
	var op *net.OpError
	var code kafka.Error
	var shake handshakeError
	var unable credentialError
	var rejected rejection
	var overdue overdueError
	switch {
	case errors.As(err, &overdue) && overdue.atOnce:
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, errStale), errors.Is(err, ErrCorrupt), errors.Is(err, ErrTooLarge):
		return err
	case c.closed():
		return ErrClosed
	case errors.As(err, &unable):
		return fmt.Errorf("%w at %s, because the client has no credentials: %w", ErrUnreachable, c.brokers(), unable)
	case errors.As(err, &rejected):
		return c.rejected(rejected)
	case errors.As(err, &code):
		return c.refused(code)
	case errors.As(err, &shake), alerted(err):
		return fmt.Errorf("%w: TLS with %s: %w (check ssl.ca.location, ssl.certificate.location and security.protocol)", c.denied(), c.brokers(), err)
	case (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)) && !c.answered.Load():
		return fmt.Errorf("%w at %s: it closes the connection: check security.protocol, sasl.username and sasl.password (%w)", ErrUnreachable, c.brokers(), lasting(err))
	case (errors.As(err, &op) && op.Op == "dial" || isDNS(err) || isDial(err)) && c.answered.Load():
		return fmt.Errorf("%w: is it running, and is its address in advertised.listeners right? (%w)", ErrUnreachable, err)
	case errors.As(err, &op) && op.Op == "dial", isDNS(err), isDial(err):
		return fmt.Errorf("%w at %s: is Kafka running there, and is bootstrap.servers right? (%w)", ErrUnreachable, c.brokers(), err)
	case (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)) && !c.answered.Load():
		return fmt.Errorf("%w at %s: no answer in time: check bootstrap.servers and security.protocol, and whether a firewall is in between (%w)", ErrUnreachable, c.brokers(), lasting(err))
	case (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)) && time.Since(time.Unix(0, c.throttled.Load())) < c.timeout:
		return fmt.Errorf("no answer in time: %w (%w)", errThrottled, lasting(err))
	case errors.As(err, &overdue):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: no answer from %s in time (%w)", ErrUnreachable, c.brokers(), lasting(err))
	case strings.Contains(err.Error(), "expecting TLS"):
		return fmt.Errorf("%w: %s expects TLS: set security.protocol to SSL or SASL_SSL", ErrDenied, c.brokers())
	case Temporary(err):
		return fmt.Errorf("lost the connection to %s: %w", c.brokers(), lasting(err))
	}
	return err
}

// rejected returns the error for a broker that does not authenticate the client.
func (c *Client) rejected(r rejection) error {
	if r.code == kafka.UnsupportedSASLMechanism || r.code == kafka.IllegalSASLState {
		return fmt.Errorf("%w: %s does not support sasl.mechanism %s: %w", ErrDenied, c.brokers(), c.mechanism, r)
	}
	options := "the token (sasl.oauthbearer.token.endpoint.url)"
	switch {
	case c.mechanism == "AWS_MSK_IAM":
		options = "the AWS credentials, or they may not connect (kafka-cluster:Connect)"
	case c.username != "":
		options = "the user name or password (sasl.username, sasl.password)"
	}
	return fmt.Errorf("%w: %s rejects %s: %w", c.denied(), c.brokers(), options, r)
}

// denied returns the error for credentials that a broker rejects. If a broker has
// responded to this client before, passwords or certificates may be in the middle of
// a replacement, and the error is a temporary one.
func (c *Client) denied() error {
	if c.answered.Load() {
		return ErrUnreachable
	}
	return ErrDenied
}

func isDNS(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns)
}

// A dialError is an error of our own dial function.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

func isDial(err error) bool {
	var d dialError
	return errors.As(err, &d)
}

// refused returns the error for an error code that does not concern one topic.
func (c *Client) refused(code kafka.Error) error {
	switch code {
	case 0:
		return nil
	case kafka.GroupAuthorizationFailed:
		return fmt.Errorf("%w: grant READ on the consumer group with kafka-acls (%w)", ErrDenied, answer(code))
	case kafka.ClusterAuthorizationFailed, kafka.SecurityDisabled:
		return fmt.Errorf("%w: %w", ErrDenied, answer(code))
	case kafka.BrokerNotAvailable:
		return fmt.Errorf("%w: %w", errStale, answer(code))
	}
	return answer(code)
}

// An answer is a broker's error code with a short text. The text of kafka-go is a
// paragraph.
type answer kafka.Error

func (a answer) Error() string {
	s := fmt.Sprintf("Kafka error %d", int(a))
	title := kafka.Error(a).Title()
	if kafka.Error(a) == kafka.OffsetNotAvailable { // the one that kafka-go has no title for
		title = "Offset Not Available"
	}
	if title != "" {
		s += ", " + title
	}
	return s
}

func (a answer) Unwrap() error { return kafka.Error(a) }

// topicError returns the error for an error code that concerns a topic. The request needs the
// permission operation.
func (c *Client) topicError(topic string, code int16, operation string) error {
	switch e := kafka.Error(code); e {
	case 0:
		return nil
	case kafka.UnknownTopicOrPartition:
		return fmt.Errorf("%w: %s has no topic %q, or not this partition: create it, or correct its name in the configuration (%w)", ErrUnknownTopic, c.brokers(), topic, answer(e))
	case kafka.InvalidTopic:
		return fmt.Errorf("%q is not a valid topic name: use letters, digits, '.', '_' and '-', at most 249 characters (%w)", topic, answer(e))
	case kafka.TopicAuthorizationFailed:
		who := "this client"
		if c.username != "" {
			who = "user " + c.username
		}
		return fmt.Errorf("%w: %s has no permission for topic %q: grant %s with kafka-acls (%w)", ErrDenied, who, topic, operation, answer(e))
	case kafka.InvalidRecord:
		return fmt.Errorf("%w: topic %q does not accept a record: records without a key need cleanup.policy=delete, and some brokers check schemas (%w)", ErrRejected, topic, answer(e))
	case kafka.MessageSizeTooLarge, kafka.RecordListTooLarge:
		return fmt.Errorf("%w: topic %q: larger than its max.message.bytes (%w)", ErrTooLarge, topic, answer(e))
	default:
		return fmt.Errorf("topic %s: %w", topic, c.refused(e))
	}
}
