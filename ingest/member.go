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

// Member is this process in a consumer group, whose members share the partitions
// of topics, by Kafka's classic protocol and its strategy "roundrobin". Join
// gives the share, which holds until Heartbeat says that the group shares out
// anew. It is for one goroutine, but between two calls of Join any number may
// call Commit.
type Member struct {
	client     *Client
	group      string
	topics     []string
	id         string         // which the coordinator gives; empty before
	generation int32          // of the sharing out; -1 before the first
	shared     map[string]int // partitions of each topic that this member has shared out last, as the group's leader
}

// Member prepares to take part in group, to read topics.
func (c *Client) Member(group string, topics []string) *Member {
	return &Member{client: c, group: group, topics: topics, generation: -1}
}

const (
	// HeartbeatEvery is how often a member has to call Heartbeat.
	HeartbeatEvery = time.Second

	// sessionTimeout is after how long without a heartbeat a member is taken
	// for dead. It is the least that brokers accept by default.
	sessionTimeout = 6 * time.Second

	// rebalanceTimeout is how long the others may take to join again: less than a
	// request may take, and less than what is left of the session of one who has
	// joined and waits, whom the embedded broker would take for dead.
	rebalanceTimeout = 3 * time.Second

	consumerProtocol = "consumer"
	roundRobin       = "roundrobin"
)

// Share is which partitions of each topic a member reads, in order.
type Share map[string][]int32

// Join waits until all members of the group have joined, and gives what this
// one reads from now on, which may be nothing.
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

// shareOut is what the leader of a group does for all: the partitions of all
// topics go to the members in turn, each to the next one that reads its topic.
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
			continue // whoever reads it says so
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

// Heartbeat tells the group that this member lives. If the group shares out
// anew, what was read is to be committed and left, and Join to be called.
func (m *Member) Heartbeat(ctx context.Context) (anew bool, err error) {
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

// Grown says whether topics have partitions that are not shared out yet. Only the
// group's leader looks; where it joins again, the others hear of it.
func (m *Member) Grown(ctx context.Context) (bool, error) {
	for topic, n := range m.shared {
		_, now, err := m.client.Partitions(ctx, topic)
		if errors.Is(err, ErrUnknownTopic) || errors.Is(err, ErrDenied) {
			continue // whoever reads it says so
		}
		if err != nil || now > n {
			return err == nil, err
		}
	}
	return false, nil
}

// Partitions is how many there were to share out, as far as this member knows.
func (m *Member) Partitions() (n int) {
	for _, of := range m.shared {
		n += of
	}
	return n
}

// Leave gives the share to the others at once.
func (m *Member) Leave(ctx context.Context) error {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = m.group, m.id
	_, err := m.ask(ctx, req)
	return m.named(err)
}

// Commit stores positions as the group's: offsets by topic, one for each
// partition, and below 0 for those left alone. A member may do so until the
// others have shared out without it.
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
				if err := m.client.topicError(t.Topic, p.ErrorCode); err != nil {
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
