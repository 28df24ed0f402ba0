package ingest

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// A transaction of which a record could not be written is not committed without it.
func TestNoTransactionIsCommittedInPart(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		topic, c, ctx := k.topic(t, "a", 1), k.client(t), within(t, time.Minute)
		tx := c.Transactor("partly"+k.tag, time.Minute)
		if err := tx.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Write(ctx, topic, 0, values("small")); err != nil {
			t.Fatal(err)
		}
		noise := make([]byte, 9<<20) // more than any broker of the tests takes, and compression does not shorten it
		rand.NewChaCha8([32]byte{}).Read(noise)
		if _, err := tx.Write(ctx, topic, 0, values(string(noise))); !errors.Is(err, ErrTooLarge) {
			t.Errorf("9 MiB: %v, want %v", err, ErrTooLarge)
		}
		if err := tx.Commit(ctx); !errors.Is(err, ErrTransaction) {
			t.Errorf("the rest was committed: %v", err)
		}
		if err := tx.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Write(ctx, topic, 0, values("whole")); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if got := committed(t, c, topic, 1); len(got) != 1 || string(got[0].Value) != "whole" {
			t.Errorf("committed: %s", show(got))
		}
	})
}
