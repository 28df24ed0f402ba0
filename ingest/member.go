package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Member is a member of a consumer group, which shares the partitions of topics
// between its members. It uses Kafka's classic protocol with the assignment
// strategy "roundrobin". Join returns the member's share, which is valid until
// Heartbeat reports a rebalance. A Member must not be used concurrently, except
// that between two calls of Join, any number of goroutines may call Commit.
type Member struct {
	client     *Client
	group      string
	topics     []string
	id         string         // assigned by the coordinator; empty before
	generation int32          // of the last assignment; -1 before the first
	shared     map[string]int // number of partitions by topic that this member last assigned, as the group's leader; else nil
}

// Member returns a member of group that reads topics. Join joins the group.
func (c *Client) Member(group string, topics []string) *Member {
	return &Member{client: c, group: group, topics: topics, generation: -1}
}

const (
	// HeartbeatEvery is the interval at which a member must call Heartbeat.
	HeartbeatEvery = time.Second

	// sessionTimeout is the time without a heartbeat after which a member counts as
	// dead. It is the minimum that brokers accept by default.
	sessionTimeout = 6 * time.Second

	// rebalanceTimeout is how long the other members may take to join again. It is
	// less than a request may take. It is also less than the rest of the session of
	// a member that has joined and waits, because the embedded broker would expire
	// that member.
	rebalanceTimeout = 3 * time.Second

	consumerProtocol = "consumer"
	roundRobin       = "roundrobin"
)

// Share is the assignment of a member: partitions by topic, in ascending order.
type Share map[string][]int32

// Join waits until all members of the group have joined, and returns the share of
// this member, which may be empty.
func (m *Member) Join(ctx context.Context) (Share, error) {
	for pause := new(Backoff); ; {
		share, err := m.join(ctx)
		var code kafka.Error
		switch {
		case err == nil:
			return share, nil
		case !errors.As(err, &code):
			return nil, m.named(err)
		case code == kafka.UnknownMemberId:
			m.id = ""
		case code != kafka.MemberIDRequired && code != kafka.RebalanceInProgress && code != kafka.IllegalGeneration:
			return nil, m.named(err)
		}
		if err := pause.Pause(ctx, err); err != nil {
			return nil, err
		}
	}
}

func (m *Member) join(ctx context.Context) (Share, error) {
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = m.topics
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = m.group, m.id, consumerProtocol
	req.SessionTimeoutMillis = int32(sessionTimeout.Milliseconds())
	req.RebalanceTimeoutMillis = int32(rebalanceTimeout.Milliseconds())
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: roundRobin, Metadata: meta.AppendTo(nil)}}
	r, err := m.ask(ctx, req)
	if err != nil {
		return nil, err
	}
	joined := r.(*kmsg.JoinGroupResponse)
	if joined.MemberID != "" {
		m.id = joined.MemberID
	}
	if err := m.client.refused(kafka.Error(joined.ErrorCode)); err != nil {
		return nil, err
	}
	m.generation = joined.Generation
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation = m.group, m.id, m.generation
	m.shared = nil
	if joined.LeaderID == m.id {
		m.shared = map[string]int{}
		if sync.GroupAssignment, err = m.shareOut(ctx, joined.Members); err != nil {
			return nil, err
		}
	}
	if r, err = m.ask(ctx, sync); err != nil {
		return nil, err
	}
	synced := r.(*kmsg.SyncGroupResponse)
	if err := m.client.refused(kafka.Error(synced.ErrorCode)); err != nil {
		return nil, err
	}
	share := Share{}
	if len(synced.MemberAssignment) == 0 {
		return share, nil
	}
	var mine kmsg.ConsumerMemberAssignment
	if err := mine.ReadFrom(synced.MemberAssignment); err != nil {
		return nil, fmt.Errorf("%w: assignment: %w", ErrCorrupt, err)
	}
	for _, t := range mine.Topics {
		share[t.Topic] = slices.Sorted(slices.Values(t.Partitions))
	}
	return share, nil
}

// shareOut computes the assignment of all members, as the leader of a group does:
// the partitions of all topics go to the members in turn, each to the next member
// that reads its topic.
func (m *Member) shareOut(ctx context.Context, members []kmsg.JoinGroupResponseMember) ([]kmsg.SyncGroupRequestGroupAssignment, error) {
	slices.SortFunc(members, func(a, b kmsg.JoinGroupResponseMember) int { return cmp.Compare(a.MemberID, b.MemberID) })
	reads := make([][]string, len(members))
	var topics []string
	for i, who := range members {
		var meta kmsg.ConsumerMemberMetadata
		if err := meta.ReadFrom(who.ProtocolMetadata); err != nil {
			return nil, fmt.Errorf("%w: member %s: %w", ErrCorrupt, who.MemberID, err)
		}
		reads[i] = meta.Topics
		topics = append(topics, meta.Topics...)
	}
	slices.Sort(topics)
	shares := make([]kmsg.ConsumerMemberAssignment, len(members))
	next := 0
	for _, topic := range slices.Compact(topics) {
		t, err := m.client.metadata(ctx, topic)
		if errors.Is(err, ErrUnknownTopic) || errors.Is(err, ErrDenied) {
			continue // the members that read it report it
		}
		if err != nil {
			return nil, err
		}
		m.shared[topic] = len(t.Partitions)
		for p := range t.Partitions {
			for !slices.Contains(reads[next%len(members)], topic) {
				next++
			}
			of := &shares[next%len(members)].Topics
			if n := len(*of); n == 0 || (*of)[n-1].Topic != topic {
				*of = append(*of, kmsg.ConsumerMemberAssignmentTopic{Topic: topic})
			}
			last := &(*of)[len(*of)-1]
			last.Partitions = append(last.Partitions, int32(p))
			next++
		}
	}
	out := make([]kmsg.SyncGroupRequestGroupAssignment, len(members))
	for i, who := range members {
		out[i].MemberID, out[i].MemberAssignment = who.MemberID, shares[i].AppendTo(nil)
	}
	return out, nil
}

// Heartbeat tells the group that this member is alive. It reports whether the
// group rebalances. If it does, the caller commits its positions, stops reading
// and calls Join.
func (m *Member) Heartbeat(ctx context.Context) (rebalancing bool, err error) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	r, err := m.ask(ctx, req)
	if err != nil {
		return false, m.named(err)
	}
	switch code := kafka.Error(r.(*kmsg.HeartbeatResponse).ErrorCode); code {
	case kafka.RebalanceInProgress, kafka.IllegalGeneration, kafka.UnknownMemberId:
		return true, nil
	default:
		return false, m.named(m.client.refused(code))
	}
}

// Resized reports whether topics have other partitions than those that are assigned: some were added,
// or a topic was deleted and created again with fewer. Only the group's leader checks. When it joins
// again, the other members are notified.
func (m *Member) Resized(ctx context.Context) (bool, error) {
	for topic, n := range m.shared {
		_, now, err := m.client.Partitions(ctx, topic)
		if errors.Is(err, ErrUnknownTopic) || errors.Is(err, ErrDenied) {
			continue // the members that read it report it
		}
		if err != nil || now != n {
			return err == nil, err
		}
	}
	return false, nil
}

// Partitions returns the number of partitions that this member last assigned, as
// the group's leader; 0 for other members.
func (m *Member) Partitions() (n int) {
	for _, of := range m.shared {
		n += of
	}
	return n
}

// Leave leaves the group, so that the other members take over the share at once.
func (m *Member) Leave(ctx context.Context) error {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = m.group, m.id
	_, err := m.ask(ctx, req)
	return m.named(err)
}

// Commit commits positions of the group: offsets by topic, one for each partition.
// A negative offset leaves a partition unchanged. A commit is accepted until the
// group has rebalanced without this member.
func (m *Member) Commit(ctx context.Context, offsets map[string][]int64) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation, req.RetentionTimeMillis = m.group, m.id, m.generation, -1
	for topic, next := range offsets {
		rt := kmsg.NewOffsetCommitRequestTopic()
		rt.Topic = topic
		for p, o := range next {
			if o < 0 {
				continue
			}
			rp := kmsg.NewOffsetCommitRequestTopicPartition()
			rp.Partition, rp.Offset, rp.LeaderEpoch = int32(p), o, -1
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
	}
	return m.named(m.client.coordinated(ctx, func(ctx context.Context) error {
		r, err := m.ask(ctx, req)
		if err != nil {
			return err
		}
		for _, t := range r.(*kmsg.OffsetCommitResponse).Topics {
			for _, p := range t.Partitions {
				if err := m.client.topicError(t.Topic, p.ErrorCode, "READ"); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// ask sends req to the group's coordinator.
func (m *Member) ask(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	at, err := m.client.coordinator(ctx, m.group)
	if err != nil {
		return nil, err
	}
	r, _, err := m.client.do(ctx, req, responseLimit, toBroker(at))
	return r, err
}

func (m *Member) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("group %s: %w", m.group, err)
}
