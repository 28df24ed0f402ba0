package ingest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// limitTimes makes the embedded broker reject batches with timestamps that are more than an hour away
// from now, as Apache Kafka does. It does not name the records in the topic unnamed.
func limitTimes(k cluster, unnamed string) {
	k.ControlKey(0, func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		req := r.(*kmsg.ProduceRequest)
		of := req.Topics[0].Partitions[0]
		s := newScan(0, nil)
		if err := s.set(of.Records); err != nil {
			return nil, err, true
		}
		rp := kmsg.NewProduceResponseTopicPartition()
		rp.Partition = of.Partition
		for i, r := range s.records {
			if time.Since(time.UnixMilli(r.Time)).Abs() > time.Hour {
				rp.ErrorCode = 32
				if req.Topics[0].Topic != unnamed {
					rp.ErrorRecords = append(rp.ErrorRecords, kmsg.ProduceResponseTopicPartitionErrorRecord{RelativeOffset: int32(i)})
				}
			}
		}
		if rp.ErrorCode == 0 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.ProduceResponse)
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.Partitions = req.Topics[0].Topic, append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
}

// Records whose timestamps a topic does not accept are written with the current time, and the others
// with their own.
func TestTimestampsThatATopicRejectsAreReplaced(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		named, unnamed := k.name("named"), k.name("unnamed")
		if k.Cluster != nil {
			limitTimes(k, unnamed)
		}
		for _, topic := range []string{named, unnamed} {
			c, ctx := k.client(t), within(t, time.Minute)
			if err := c.Create(ctx, topic, 1, map[string]string{BeforeMax: "3600000", AfterMax: "3600000"}); err != nil {
				t.Fatal(err)
			}
			var warned []string
			warn := func(err error) { warned = append(warned, err.Error()) }
			began := time.Now().UnixMilli()
			recent := began - 1000
			records := func() []Record {
				rs := values("old", "recent", "future", "recent")
				rs[0].Time, rs[1].Time, rs[2].Time, rs[3].Time = began-7_200_000, recent, began+7_200_000, recent
				return rs
			}
			p := c.Producer()
			p.Retrying = warn
			if err := p.Publish(ctx, topic, 0, records()); err != nil {
				t.Fatal(err)
			}
			tx := c.Transactor(k.name("tx"), time.Minute)
			tx.Retrying = warn
			if err := tx.Begin(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Write(ctx, topic, 0, records()); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(ctx); err != nil {
				t.Fatal(err)
			}
			if err := tx.Begin(ctx); err != nil { // once it returns, the records are visible
				t.Fatal(err)
			}
			got, _ := readTopic(t, c, topic, 0)
			want := []string{"0:old", "1:recent", "2:future", "3:recent", "4:old", "5:recent", "6:future", "7:recent"}
			if !reflect.DeepEqual(show(got), want) {
				t.Fatalf("stored %v, want %v", show(got), want)
			}
			for _, r := range got {
				keeps := string(r.Value) == "recent" && (topic == named || k.Cluster == nil)
				if keeps && r.Time != recent || !keeps && r.Time < began {
					t.Errorf("%s has the time %d, recent ones have %d, and the test began at %d", r.Value, r.Time, recent, began)
				}
			}
			if n := strings.Count(strings.Join(warned, ""), BeforeMax); n != 2 {
				t.Errorf("warnings %q, want the remedy for each batch", warned)
			}
		}
	})
}

// A timestamp that is rejected although it is the current time is an error.
func TestTheCurrentTimeIsNotReplacedAgain(t *testing.T) {
	rs, e := []Record{{Time: 1}, {Time: 2}}, &untimely{}
	if !e.set(rs, 3) || rs[0].Time != 3 || rs[1].Time != 3 || e.set(rs, 3) {
		t.Errorf("times %d and %d, want 3 and one change", rs[0].Time, rs[1].Time)
	}
}
