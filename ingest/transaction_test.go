package ingest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Uncommitted records are never visible, a fenced Transactor cannot commit, and
// records committed before are visible once Begin returns.
func TestTransactions(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topics := []string{k.topic(t, "a", 1), k.topic(t, "b", 1)}
		c := k.client(t)
		ctx := within(t, time.Minute)
		first, second := c.Transactor("id"+k.tag, time.Minute), c.Transactor("id"+k.tag, time.Minute)
		put := func(tx *Transactor, v string) error {
			for _, topic := range topics {
				if _, err := tx.Write(ctx, topic, 0, values(v, v)); err != nil {
					return err
				}
			}
			return nil
		}
		sees := func(want string) {
			t.Helper()
			for _, topic := range topics {
				got := committed(t, c, topic, 2*len(want))
				s := ""
				for i, r := range got {
					if i%2 == 0 {
						s += string(r.Value)
					}
				}
				if s != want || len(got) != 2*len(want) {
					t.Errorf("%s: %q, want %q twice", topic, show(got), want)
				}
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := first.Write(ctx, topics[0], 0, values("x")); !errors.Is(err, ErrTransaction) {
			t.Errorf("before Begin: %v", err)
		}
		must(first.Begin(ctx))
		must(first.Commit(ctx)) // an empty transaction
		for _, v := range []string{"1", "2"} {
			must(put(first, v))
			must(first.Commit(ctx))
		}
		sees("12")
		must(put(first, "3"))
		sees("12")
		must(second.Begin(ctx))
		sees("12")
		err := put(first, "4")
		if err == nil {
			err = first.Commit(ctx)
		}
		if !errors.Is(err, ErrTransaction) {
			t.Errorf("who was fenced: %v, want %v", err, ErrTransaction)
		}
		must(put(second, "5"))
		must(second.Commit(ctx))
		sees("125")
	})
}

// Whichever request or response is lost, each committed transaction is stored
// completely and once, in order.
func TestTransactionsOverABadWire(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		for _, after := range []bool{false, true} {
			topic := k.topic(t, fmt.Sprint("t", after), 1)
			w := new(wire)
			var cuts atomic.Int32
			w.cut = func(key int16) (bool, bool) {
				switch key {
				case 0, 22, 24, 26:
					if w.count.Add(1)%4 == 3 {
						cuts.Add(1)
						return !after, after
					}
				}
				return false, false
			}
			c := k.client(t, w.install(k))
			tx := c.Transactor(fmt.Sprint("bad", after, k.tag), time.Minute)
			ctx := within(t, time.Minute)
			var want []string
			for i := range 8 {
				v := fmt.Sprint(i)
				if i == 0 {
					if err := tx.Begin(ctx); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := tx.Write(ctx, topic, 0, values(v, v)); err != nil {
					t.Fatal(err)
				}
				if err := tx.Commit(ctx); err != nil {
					t.Fatal(err)
				}
				want = append(want, v, v)
			}
			var got []string
			for _, r := range committed(t, k.client(t), topic, len(want)) {
				got = append(got, string(r.Value))
			}
			if !reflect.DeepEqual(got, want) || cuts.Load() < 5 {
				t.Errorf("answers lost: %v: stored %v, want %v; %d cuts", after, got, want, cuts.Load())
			}
		}
	})
}

// A transaction that waits for a topic says so, as a Producer does.
func TestATransactionReportsWhatItWaitsFor(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic := "awaited" + k.tag
		tx := k.client(t).Transactor("waits"+k.tag, time.Minute)
		var said atomic.Value
		tx.Retrying = func(err error) { said.CompareAndSwap(nil, err.Error()) }
		ctx := within(t, time.Minute)
		if err := tx.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		if _, err := tx.Write(ctx, topic, 0, values("x")); err == nil {
			t.Fatal("a record was written to a topic that does not exist")
		}
		if text, _ := said.Load().(string); !strings.Contains(text, topic) {
			t.Errorf("it said %q", text)
		}
	})
}

// That a broker completes the previous transaction is said only if it takes long.
func TestATransactionDoesNotReportTheOneBefore(t *testing.T) {
	for _, x := range []struct {
		answers int32
		said    bool
	}{{3, false}, {completing + 2, true}} {
		k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "a"))
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		var answers atomic.Int32
		k.ControlKey(int16(kmsg.AddPartitionsToTxn), func(r kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			if answers.Add(1) > x.answers {
				return nil, nil, false
			}
			resp := r.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
			p := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
			p.ErrorCode = 51 // CONCURRENT_TRANSACTIONS
			topic := kmsg.NewAddPartitionsToTxnResponseTopic()
			topic.Topic, topic.Partitions = "a", append(topic.Partitions, p)
			resp.Topics = append(resp.Topics, topic)
			return resp, nil, true
		})
		c, err := New(Config{Brokers: k.ListenAddrs()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		tx := c.Transactor("id", time.Minute)
		var said atomic.Int32
		tx.Retrying = func(error) { said.Add(1) }
		ctx := within(t, time.Minute)
		if err := tx.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Write(ctx, "a", 0, values("x")); err != nil {
			t.Fatal(err)
		}
		if got := said.Load() > 0; got != x.said {
			t.Errorf("%d answers that it is completed: said %v, want %v", x.answers, got, x.said)
		}
	}
}
