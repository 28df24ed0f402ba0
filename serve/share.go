package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/ingest"
)

// part is one partition to be scored.
type part struct {
	topic     string
	id        [16]byte // of the topic
	partition int
	committed int64 // or the first offset
	next      int64
	end       int64 // -1: follow the partition
}

// bounds holds the first and the end offset of each partition, by topic.
type bounds struct{ first, end map[string][]int64 }

func (b bounds) partitions() (n int) {
	for _, end := range b.end {
		n += len(end)
	}
	return n
}

func (s *Scorer) bounds(ctx context.Context) (b bounds, err error) {
	b = bounds{map[string][]int64{}, map[string][]int64{}}
	for _, topic := range s.config.Topics {
		if b.first[topic], b.end[topic], err = s.config.Client.Offsets(ctx, topic); err != nil {
			return b, err
		}
	}
	return b, nil
}

// take joins the group once there is a model, and scores the assigned partitions.
// It joins again after each rebalance. all holds the offsets at the time when Run
// began; with Config.ToEnd, scoring stops at its end offsets.
func (s *Scorer) take(ctx context.Context, all bounds) error {
	select {
	case <-s.first:
	default:
		s.config.Report(Waiting{})
		select {
		case <-s.first:
		case <-ctx.Done():
			return nil
		}
	}
	m := s.config.Client.Member(s.config.Group, s.config.Topics)
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := m.Leave(last); err != nil {
			s.config.Report(Retrying{Err: err})
		}
	}()
	for {
		share, parts, err := s.join(ctx, m, all)
		if err != nil {
			return err
		}
		s.config.Report(Shared{share, cmp.Or(m.Partitions(), s.partitions(ctx, all))})
		if rebalanced, err := s.hold(ctx, m, parts, all); err != nil || !rebalanced {
			return err
		}
	}
}

// partitions returns the number of partitions of the topics: for a topic that cannot be asked now, that
// of the time when Run began.
func (s *Scorer) partitions(ctx context.Context, all bounds) (n int) {
	for _, topic := range s.config.Topics {
		_, now, err := s.config.Client.Partitions(ctx, topic)
		if err != nil {
			now = len(all.end[topic])
		}
		n += now
	}
	return n
}

// joiner joins a group, as an ingest.Member does.
type joiner interface {
	Join(ctx context.Context) (ingest.Share, error)
}

// join joins the group, and returns the share with the offsets to continue from. It joins again if the
// share has partitions that a topic does not have: the leader may have seen the topic before it was
// created again.
func (s *Scorer) join(ctx context.Context, m joiner, all bounds) (share ingest.Share, parts []part, err error) {
	joined := false
	err = s.retry(ctx, func() (err error) {
		if !joined {
			if share, err = m.Join(ctx); err != nil {
				return err
			}
		}
		parts, err = s.parts(ctx, share, all) // a new cluster's first group has to wait for its coordinator
		joined = !errors.Is(err, errOtherPartitions)
		return err
	})
	return share, parts, err
}

// errOtherPartitions is the error of a share with partitions that a topic does not have.
var errOtherPartitions = fmt.Errorf("the broker has fewer: %w", ingest.ErrUnknownTopic)

// parts returns the partitions of a share with the offsets to continue from.
func (s *Scorer) parts(ctx context.Context, share ingest.Share, all bounds) (parts []part, err error) {
	for topic, mine := range share {
		first, last, err := s.config.Client.Offsets(ctx, topic)
		if err != nil {
			return nil, err
		}
		id, _, err := s.config.Client.Partitions(ctx, topic)
		if err != nil {
			return nil, err
		}
		committed, err := s.config.Client.Committed(ctx, s.config.Group, topic, len(first))
		if err != nil {
			return nil, err
		}
		for _, i := range mine {
			if int(i) >= len(first) {
				return nil, fmt.Errorf("partition %d of %q is assigned, but %w (%d)", i, topic, errOtherPartitions, len(first))
			}
			from := max(first[i], committed[i])
			p := part{topic: topic, id: id, partition: int(i), committed: from, next: from, end: -1}
			if own := s.answeredUntil(p); own <= last[i] {
				p.next = max(p.next, own)
			}
			if committed[i] >= 0 && committed[i] < first[i] {
				s.config.Report(Gap{topic, int(i), committed[i], first[i]})
			}
			if end := all.end[topic]; s.config.ToEnd {
				p.end = 0 // a partition that was added later is not read
				if int(i) < len(end) {
					p.end = end[i]
				}
			}
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// place is a partition of a topic.
type place struct {
	topic     string
	partition int
}

// hasAnswered notes the position of a partition that s gives up.
func (s *Scorer) hasAnswered(p part) {
	s.answering.Lock()
	defer s.answering.Unlock()
	s.answered[place{p.topic, p.partition}] = p
}

// answeredUntil returns the offset up to which s has published the scores of a partition that it had
// before; -1 if it had none, or if the topic may be another one of that name. The offset is beyond the
// committed one if the group has forgotten the scorer, as it does if a broker is away for long.
func (s *Scorer) answeredUntil(p part) int64 {
	s.answering.Lock()
	defer s.answering.Unlock()
	if was := s.answered[place{p.topic, p.partition}]; was.id == p.id && p.id != [16]byte{} {
		return was.next
	}
	return -1
}

// hold scores parts until ctx is done, the group has reached the end of all
// partitions, or the group rebalances. It reports whether the group rebalances.
func (s *Scorer) hold(ctx context.Context, m *ingest.Member, parts []part, all bounds) (rebalanced bool, err error) {
	held, giveUp := context.WithCancel(ctx)
	defer giveUp()
	scoring, sctx := errgroup.WithContext(held)
	for _, p := range parts {
		scoring.Go(func() error { return s.score(sctx, m, p) })
	}
	if !s.config.ToEnd {
		scoring.Go(func() error { <-sctx.Done(); return nil }) // keeps an empty share open too
	}
	beating := new(errgroup.Group)
	beating.Go(func() (err error) {
		defer giveUp()
		rebalanced, err = s.beat(held, m)
		return err
	})
	stalled := false
	if err = scoring.Wait(); err == nil && s.config.ToEnd {
		stalled, err = s.complete(held, all)
	}
	giveUp()
	if late := beating.Wait(); err == nil {
		err = late
	}
	if stalled && err == nil && !rebalanced {
		return true, s.retry(ctx, func() error { return m.Leave(ctx) })
	}
	return rebalanced, err
}

// stallTimeout is the time without progress after which the other members are assumed
// to be dead. It is longer than a broker needs to notice a dead member.
const stallTimeout = 15 * time.Second

// complete waits until the group has reached the end of all partitions, because this
// member may have to take over partitions of a member that dies. It reports whether
// the group is stalled, as happens if the broker never expires a dead member.
func (s *Scorer) complete(ctx context.Context, all bounds) (stalled bool, err error) {
	t := time.NewTicker(ingest.HeartbeatEvery)
	defer t.Stop()
	least, moved := int64(-1), time.Now()
	for {
		var left int64
		err := s.retry(ctx, func() (err error) {
			left, err = s.remaining(ctx, all)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return false, nil
		case err != nil || left == 0:
			return false, err
		case left < least || least < 0:
			least, moved = left, time.Now()
		case time.Since(moved) > stallTimeout:
			return true, nil
		}
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
}

// remaining returns the number of offsets between the group's committed positions and
// the ends.
func (s *Scorer) remaining(ctx context.Context, all bounds) (n int64, err error) {
	for topic, end := range all.end {
		first, _, err := s.config.Client.Offsets(ctx, topic)
		if err != nil {
			return 0, err
		}
		committed, err := s.config.Client.Committed(ctx, s.config.Group, topic, len(end))
		if err != nil {
			return 0, err
		}
		for p, e := range end {
			at := committed[p]
			if p < len(first) {
				at = max(at, first[p])
			}
			n += max(0, e-at)
		}
	}
	return n, nil
}

// partitionsEvery is the interval between checks for partitions that were added or are gone.
const partitionsEvery = 5 * time.Second

// beat sends heartbeats until ctx is done or the group rebalances, and reports whether
// it rebalances. While the coordinator does not respond, the assigned partitions are
// kept: if the group rebalances in the meantime, some records are scored twice.
func (s *Scorer) beat(ctx context.Context, m *ingest.Member) (rebalanced bool, err error) {
	t := time.NewTicker(ingest.HeartbeatEvery)
	defer t.Stop()
	looked := time.Now()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-t.C:
		}
		err := s.retry(ctx, func() (err error) {
			rebalanced, err = m.Heartbeat(ctx)
			if err != nil || rebalanced || s.config.ToEnd || time.Since(looked) < partitionsEvery {
				return err
			}
			looked = time.Now()
			rebalanced, err = m.Resized(ctx)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return false, nil
		case rebalanced || err != nil:
			return rebalanced, err
		}
		s.config.Report(Heartbeat{})
	}
}
