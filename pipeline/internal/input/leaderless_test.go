package input

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A partition that cannot be read is named while the others are read.
func TestUnreadablePartitionIsNamed(t *testing.T) {
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	c := kafkatest.ClientOf(t, k.ListenAddrs()[0], nil)
	if err := c.Create(t.Context(), "in", 2, nil); err != nil {
		t.Fatal(err)
	}
	k.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.LeaderNotAvailable, Count: -1, When: func(r kmsg.Request) bool {
		return r.(*kmsg.FetchRequest).Topics[0].Partitions[0].Partition == 1
	}})
	ins, err := Open(t.Context(), c, []string{"in"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	named, read := false, false
	s := NewSource(c, ins, nil, false, ingest.NewBudget(1<<30), func(ev event.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch ev := ev.(type) {
		case event.Retrying:
			if named = true; ev.Topic != "in" || ev.Partition != 1 {
				t.Errorf("%+v: want partition 1", ev)
			}
		case event.Lag:
			read = read || ev.Partition == 0
		}
		if named && read {
			cancel()
		}
	})
	s.Run(ctx)
	if !named || !read {
		t.Errorf("partition 1 is named: %v, partition 0 is read: %v", named, read)
	}
}
