package kafkalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// ErrLog is the error for a model log that violates the invariant. Nothing may be decided from it
// until a person has chosen how to continue.
var ErrLog = modellog.ErrBroken

const (
	keepsEvery = 30 * time.Second // interval between checks of the configuration

	// patience is how long a broker may report that the log is missing, or that it is shorter
	// without knowing where the leader epoch ends, before the Log believes it. A broker that has
	// just restarted may not know yet.
	patience = 5 * time.Second
)

// fail breaks the log permanently.
func (l *Log) fail(format string, args ...any) error {
	l.broken = fmt.Errorf("%w: %q %w", ErrLog, l.config.Topic, fmt.Errorf(format, args...))
	return l.broken
}

// identify verifies that the topic is still the one with which reading began.
func (l *Log) identify(ctx context.Context) error {
	var id [16]byte
	err := l.retry(ctx, func() (err error) {
		id, err = l.config.Client.TopicID(ctx, l.config.Topic)
		return err
	})
	return l.is(id, err)
}

// is records the id of the topic. An id of zero is replaced when the brokers were upgraded and
// assign one.
func (l *Log) is(id [16]byte, err error) error {
	none := [16]byte{}
	switch {
	case err != nil:
		return err
	case l.id != none && id != none && l.id != id:
		return l.fail("was deleted and created again (topic id %x, now %x), so the model's history is lost; restore it from an export with accrete import, or start a new model with accrete learn --new-model", l.id, id)
	case id != none:
		l.id = id
	}
	return nil
}

// present waits for a topic that the brokers do not know, for example after a
// restart.
func (l *Log) present(ctx context.Context) error {
	since := time.Now()
	for wait := new(ingest.Backoff); ; {
		id, err := l.config.Client.TopicID(ctx, l.config.Topic)
		if err == nil {
			return l.is(id, nil)
		}
		if !errors.Is(err, ingest.ErrUnknownTopic) {
			return nil // the caller handles this error
		}
		if time.Since(since) > patience {
			return l.fail("does not exist any more, so the model's history is lost; restore it from an export with accrete import, or start a new model with accrete learn --new-model")
		}
		if err := wait.Pause(ctx, err); err != nil {
			return err
		}
	}
}

// keeps is Retains for the topic of l.
func (l *Log) keeps(ctx context.Context) error {
	err := l.retry(ctx, func() error { return Retains(ctx, l.config.Client, l.config.Topic) })
	if err == nil {
		l.keepsAt = time.Now()
	}
	return err
}

// Retains returns an ErrLog unless the configuration of a topic retains its records indefinitely.
func Retains(ctx context.Context, client *ingest.Client, topic string) error {
	want := []struct{ name, value string }{{"cleanup.policy", "delete"}, {"retention.ms", "-1"}, {"retention.bytes", "-1"}}
	have, err := client.TopicConfig(ctx, topic, want[0].name, want[1].name, want[2].name)
	if errors.Is(err, ingest.ErrDenied) {
		return fmt.Errorf("%w: cannot read the retention of %q: %w; grant the operation DescribeConfigs on the topic", ErrLog, topic, err)
	}
	if err != nil {
		return err
	}
	for _, w := range want {
		if got, ok := have[w.name]; (!ok || got != w.value) && !planted.Fault("compacted") {
			if !ok {
				got = "unknown"
			}
			return fmt.Errorf("%w: %q does not retain its records: %s is %s; set it to %s: kafka-configs --alter --topic %s --add-config %s=%s", ErrLog, topic, w.name, got, w.value, topic, w.name, w.value)
		}
	}
	return nil
}

// shorter handles the answer of a broker that the log ends before the last record read. The end of
// the leader epoch of that record distinguishes a truncation from a broker that does not know the
// end of the log yet.
func (l *Log) shorter(ctx context.Context, end int64) error {
	if planted.Fault("tail") {
		l.recheck, l.next, l.last.offset = false, end, -1
		return nil
	}
	l.recheck = true
	if l.shorterAt.IsZero() {
		l.shorterAt = time.Now()
	}
	var at int64
	var truncated, known bool
	err := l.retry(ctx, func() (err error) {
		at, truncated, known, err = l.fetcher.Truncated(ctx, l.next, l.last.epoch)
		return err
	})
	switch {
	case err != nil:
		return err
	case truncated:
		return l.LostTail(at)
	case !known && time.Since(l.shorterAt) > patience:
		return l.LostTail(end)
	}
	return new(ingest.Backoff).Pause(ctx, nil)
}

// LostTail marks the log as broken and returns that error: the log has lost the records read from
// the offset end on.
func (l *Log) LostTail(end int64) error {
	return l.fail("has lost its tail: records %d to %d were acknowledged, but no longer exist; continue from the records that remain with accrete rollback", end, l.next-1)
}

// whole verifies that the records read belong to this topic and that their fold
// is not broken.
func (l *Log) whole() error {
	none := [16]byte{}
	if id := [16]byte(l.Fold.Genesis().TopicID); id != none && l.id != none && id != l.id {
		return l.fail("contains the records of another topic (id %x, its own is %x): it was deleted and created again, or copied; restore the original topic, or start a new model with accrete learn --new-model", id, l.id)
	}
	if err := l.Fold.Broken(); err != nil && !l.config.Tolerant {
		return fmt.Errorf("%w, in topic %q; restore it from an export with accrete import, or continue from the records that remain with accrete rollback", err, l.config.Topic)
	}
	if g := l.Fold.Genesis(); g.Import > 0 && g.Start != nil && !l.config.Tolerant {
		return fmt.Errorf("%w: %q is incomplete: its start with %v was interrupted or is still running; repeat accrete learn with the same --from or --from-offsets", ErrLog, l.config.Topic, g.Start)
	}
	if to := l.Fold.Genesis().Import; to > 0 && !l.config.Tolerant {
		return fmt.Errorf("%w: %q is incomplete: it has seq %d, and its import, up to seq %d, was interrupted or is still running; delete the topic and repeat accrete import", ErrLog, l.config.Topic, l.Fold.Seq(), to)
	}
	return nil
}

// same verifies that an answer that begins at offset at contains the last record, if that record
// was fetched again.
func (l *Log) same(at int64, got ingest.Fetched) error {
	if at >= l.next || at != l.last.offset {
		return nil
	}
	if len(got.Records) == 0 || got.Records[0].Offset != at || digest(got.Records[0].Key, got.Records[0].Value) != l.last.digest {
		return l.fail("has lost its tail and was appended to: record %d differs from the one read before; continue from the records that remain with accrete rollback", at)
	}
	return nil
}
