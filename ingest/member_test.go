package ingest

import (
	"context"
	"slices"
	"testing"
	"time"
)

// joined joins all members concurrently, because they wait for each other, and
// returns their shares.
func joined(t *testing.T, ctx context.Context, members ...*Member) []Share {
	t.Helper()
	shares, errs := make([]Share, len(members)), make(chan error)
	for i, m := range members {
		go func() {
			var err error
			shares[i], err = m.Join(ctx)
			errs <- err
		}()
	}
	for range members {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	return shares
}

// Every partition is in the share of one member that reads its topic, and shares
// of the same topics differ by at most one partition. Heartbeat reports a
// rebalance, and a member that has missed it cannot commit.
func TestMembersShare(t *testing.T) {
	onBrokers(t, func(t *testing.T, k cluster) {
		c := k.client(t)
		ctx := within(t, time.Minute)
		both, other := k.topic(t, "both", 5), k.topic(t, "other", 2)
		a, b := c.Member(k.name("g"), []string{both}), c.Member(k.name("g"), []string{both})
		if got := joined(t, ctx, a)[0]; !slices.Equal(got[both], []int32{0, 1, 2, 3, 4}) {
			t.Errorf("alone it reads %v, want all five", got)
		}
		if rebalancing, err := a.Heartbeat(ctx); rebalancing || err != nil {
			t.Errorf("heartbeat of a group at rest: %v, %v", rebalancing, err)
		}
		next := make(chan []Share)
		go func() { next <- joined(t, ctx, b) }()
		heard := func(m *Member) {
			t.Helper()
			for rebalancing := false; !rebalancing; {
				var err error
				if rebalancing, err = m.Heartbeat(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		heard(a)
		if err := a.Commit(ctx, map[string][]int64{both: {3}}); err != nil {
			t.Errorf("commit before joining again: %v", err)
		}
		zombie := *a
		shares := append(joined(t, ctx, a), <-next...)
		all := append(slices.Clone(shares[0][both]), shares[1][both]...)
		slices.Sort(all)
		if !slices.Equal(all, []int32{0, 1, 2, 3, 4}) || len(shares[0][both]) < 2 || len(shares[1][both]) < 2 {
			t.Errorf("two share 5 partitions as %v", shares)
		}
		if err := zombie.Commit(ctx, map[string][]int64{both: {9}}); err == nil {
			t.Error("a member commits under a generation that is over")
		}
		third := c.Member(k.name("g"), []string{other})
		go func() { next <- joined(t, ctx, third) }()
		heard(a)
		shares = append(joined(t, ctx, a, b), <-next...)
		if len(shares[0][both])+len(shares[1][both]) != 5 || len(shares[0][other])+len(shares[1][other]) != 0 ||
			!slices.Equal(shares[2][other], []int32{0, 1}) || len(shares[2][both]) != 0 {
			t.Errorf("two read one topic and a third another one as %v", shares)
		}
		for _, m := range []*Member{b, third} {
			if err := m.Leave(ctx); err != nil {
				t.Fatal(err)
			}
		}
		heard(a)
		if got := joined(t, ctx, a)[0]; len(got[both]) != 5 {
			t.Errorf("alone again it reads %v", got)
		}
		if err := a.Leave(ctx); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Committed(ctx, k.name("g"), both, 1); err != nil || got[0] != 3 {
			t.Errorf("committed %v, %v; want 3", got, err)
		}
	})
}
