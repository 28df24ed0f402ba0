package oracle

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Load reads the topics of a model to their current ends, as a read-committed
// consumer. The model log must still have its beginning.
func Load(ctx context.Context, brokers []string, model string, inputs ...string) (World, error) {
	w := World{Model: model, Inputs: map[Partition][]Record{}, IDs: map[string][16]byte{}}
	for _, topic := range append([]string{model + ".log", model + ".predictions", model + ".quarantine"}, inputs...) {
		id, parts, err := read(ctx, brokers, topic)
		if err != nil {
			return w, fmt.Errorf("topic %s: %w", topic, err)
		}
		for p, rs := range parts {
			switch topic {
			case model + ".log":
				w.Log, w.LogID = rs, id
			case model + ".predictions":
				w.Predictions = append(w.Predictions, rs...)
			case model + ".quarantine":
				w.Quarantine = append(w.Quarantine, rs...)
			default:
				w.Inputs[Partition{topic, int32(p)}] = rs
			}
		}
		if id != [16]byte{} {
			w.IDs[topic] = id
		}
	}
	return w, nil
}

// LoadScores reads what a scorer has written, and the records that it has read.
func (w *World) LoadScores(ctx context.Context, brokers []string, scores, asked string) error {
	_, parts, err := read(ctx, brokers, scores)
	if err != nil {
		return fmt.Errorf("topic %s: %w", scores, err)
	}
	for _, rs := range parts {
		w.Scores = append(w.Scores, rs...)
	}
	if _, parts, err = read(ctx, brokers, asked); err != nil {
		return fmt.Errorf("topic %s: %w", asked, err)
	}
	w.Asked = map[Partition][]Record{}
	for p, rs := range parts {
		w.Asked[Partition{asked, int32(p)}] = rs
	}
	return nil
}

// read returns all records of a topic, by partition.
func read(ctx context.Context, brokers []string, topic string) (id [16]byte, parts [][]Record, err error) {
	c, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return id, nil, err
	}
	defer c.Close()
	ask := kmsg.NewPtrMetadataRequest()
	about := kmsg.NewMetadataRequestTopic()
	about.Topic = &topic
	ask.Topics = append(ask.Topics, about)
	told, err := ask.RequestWith(ctx, c)
	if err != nil {
		return id, nil, err
	}
	if err := kerr.ErrorForCode(told.Topics[0].ErrorCode); err != nil {
		return id, nil, err
	}
	n := len(told.Topics[0].Partitions)
	parts = make([][]Record, n)
	first, err := offsets(ctx, c, topic, n, -2)
	if err != nil {
		return id, nil, err
	}
	end, err := offsets(ctx, c, topic, n, -1)
	if err != nil {
		return id, nil, err
	}
	from := map[int32]kgo.Offset{}
	for p := range n {
		if first[p] < end[p] {
			from[int32(p)] = kgo.NewOffset().At(first[p])
		}
	}
	if len(from) == 0 {
		return told.Topics[0].TopicID, parts, nil
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxWait(50e6))
	if err != nil {
		return id, nil, err
	}
	defer reader.Close()
	for len(from) > 0 {
		got := reader.PollFetches(ctx)
		if err := got.Err(); err != nil {
			return id, nil, err
		}
		got.EachRecord(func(r *kgo.Record) {
			if r.Offset < end[r.Partition] && !r.Attrs.IsControl() {
				parts[r.Partition] = append(parts[r.Partition], record(r))
			}
			if r.Offset >= end[r.Partition]-1 { // every transaction ends with a marker
				delete(from, r.Partition)
			}
		})
	}
	return told.Topics[0].TopicID, parts, nil
}

func record(r *kgo.Record) Record {
	out := Record{Offset: r.Offset, Time: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, Header{h.Key, h.Value})
	}
	return out
}

// offsets returns the offsets of n partitions for a ListOffsets timestamp: -2
// for the first offset, -1 for the end of the committed records.
func offsets(ctx context.Context, c *kgo.Client, topic string, n int, at int64) ([]int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = -1, 1
	about := kmsg.NewListOffsetsRequestTopic()
	about.Topic = topic
	for p := range n {
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition, part.Timestamp = int32(p), at
		about.Partitions = append(about.Partitions, part)
	}
	req.Topics = append(req.Topics, about)
	out := make([]int64, n)
	for _, shard := range c.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return nil, shard.Err
		}
		for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return nil, err
				}
				out[p.Partition] = p.Offset
			}
		}
	}
	return out, nil
}
