package ingest

import (
	"context"
	"encoding/binary"
	"os"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A batch whose acknowledgement was lost, and which the broker then calls a duplicate, is stored: Publish
// does not fail, and the next batch has the next sequence number.
func TestADuplicateIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sequences []uint32
		c, err := New(Config{Brokers: []string{"simulated:1"}, Exchange: func(_ context.Context, req kmsg.Request) (kmsg.Response, bool, error) {
			switch r := req.(type) {
			case *kmsg.MetadataRequest:
				resp, topic, p := kmsg.NewPtrMetadataResponse(), kmsg.NewMetadataResponseTopic(), kmsg.NewMetadataResponseTopicPartition()
				topic.Topic, topic.Partitions = r.Topics[0].Topic, append(topic.Partitions, p)
				resp.Topics = append(resp.Topics, topic)
				return resp, true, nil
			case *kmsg.InitProducerIDRequest:
				resp := kmsg.NewPtrInitProducerIDResponse()
				resp.ProducerID = 7
				return resp, true, nil
			case *kmsg.ProduceRequest:
				sequences = append(sequences, binary.BigEndian.Uint32(r.Topics[0].Partitions[0].Records[53:]))
				if len(sequences) == 1 {
					return nil, true, os.ErrDeadlineExceeded
				}
				resp, topic, p := kmsg.NewPtrProduceResponse(), kmsg.NewProduceResponseTopic(), kmsg.NewProduceResponseTopicPartition()
				if len(sequences) == 2 {
					p.ErrorCode = duplicateSequence
				}
				topic.Partitions = append(topic.Partitions, p)
				resp.Topics = append(resp.Topics, topic)
				return resp, true, nil
			}
			t.Fatalf("request %T", req)
			return nil, false, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		p := c.Producer()
		for range 2 {
			if err := p.Publish(t.Context(), "t", 0, []Record{{Value: []byte("a")}, {Value: []byte("b")}}); err != nil {
				t.Error(err)
			}
		}
		if want := []uint32{0, 0, 2}; !slices.Equal(sequences, want) {
			t.Errorf("sequence numbers %v, want %v", sequences, want)
		}
	})
}
