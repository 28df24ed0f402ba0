package modellog

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

var testRef = Ref{Snapshot: snapshot.ID{1}, Offset: 2, Start: 1, Seq: 1, Step: 1}

// saveJudged writes a snapshot that the gate has passed or refused.
func (j *journal) saveJudged(passed bool) Ref {
	j.t.Helper()
	rs, m := j.snapshot(700)
	j.counts(rs...)
	if c, ok := j.fold.Serves(); ok {
		m.Gate = &Gate{Metric: "loss", Rows: 10, Loss: 1, Served: 2, WorseThan: .1, Passed: passed, Champion: c.Snapshot}
	}
	at := int64(len(j.values))
	j.counts(j.finish(m))
	return RefTo(m, at)
}

func (j *journal) serving(mode Mode, r Ref) *Serving {
	return &Serving{Owner: j.owner(), Choice: Choice{Mode: mode, Snapshot: r, Reason: "test", By: "me"}}
}

// The fold names the snapshot to serve, from wherever it begins, and keeps the log that it
// needs. The truth is a list of what was written.
func TestServesWhatWasChosen(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		j := newJournal(t)
		j.counts(claim(1, 1))
		j.batches(1)
		all := []Ref{j.saveJudged(true)}
		passed := map[int64]bool{all[0].Offset: true}
		champion, mode, chosen, turned := all[0], Follow, Ref{}, false
		for range 25 {
			any, newest := all[rng.IntN(len(all))], all[len(all)-1]
			switch rng.IntN(8) {
			case 0, 1:
				j.batches(1 + rng.IntN(2))
			case 2, 3:
				j.batches(1)
				pass := rng.IntN(2) == 0
				r := j.saveJudged(pass)
				all, passed[r.Offset] = append(all, r), pass
				if pass {
					champion = r
				}
			case 4:
				mode, chosen = Hold, champion
				j.counts(j.serving(Hold, champion))
			case 5:
				if len(all) > 1 && any.Offset < all[max(0, len(all)-2)].Offset { // older than what the fold remembers
					mode, chosen = Pin, any
					j.counts(j.serving(Pin, any))
				}
			case 6:
				mode, champion = Follow, newest
				j.counts(j.serving(Follow, newest))
			case 7:
				if rng.IntN(3) > 0 {
					j.takeOver(Versions{})
				} else if to := newest.Seq; to < j.fold.Seq() && !turned {
					r := &Rollback{Owner: j.owner(), Seq: j.fold.Highest() + 1, ToSeq: to, Reason: "test"}
					r.ToChain, _ = j.fold.ChainAt(to)
					r.Chain = NextChain(j.fold.Chain(), r)
					j.counts(r)
				}
			}
			want := champion
			if mode != Follow {
				want = chosen
			}
			if c, ok := j.fold.Serves(); !ok || c.Mode != mode || c.Snapshot != want {
				t.Fatalf("seed %d: serves %v of step %v, want %v of seq %d at offset %d", seed, c, ok, mode, want.Seq, want.Offset)
			}
			if need := j.fold.Trim(); need > want.Start || need > champion.Start {
				t.Fatalf("seed %d: the log may be cut at %d, but %d is served and %d is the champion", seed, need, want.Start, champion.Start)
			}
			begin := rng.Int64N(int64(len(j.values)))
			if f := j.from(begin, 2); f.Seeded() {
				if c, ok := f.Serves(); !ok || c.Mode != mode || c.Snapshot != want {
					t.Fatalf("seed %d, from offset %d: serves %v, %v, want %v at offset %d", seed, begin, c, ok, mode, want.Offset)
				}
			}
		}
	}
}

func TestAChoiceWithoutAReasonNamesNone(t *testing.T) {
	for reason, want := range map[string]string{"": `pin snapshot 00000000000000000000000000000000 of step 7, by "me"`, "slow": `pin snapshot 00000000000000000000000000000000 of step 7, by "me": slow`} {
		if got := (&Serving{Choice: Choice{Mode: Pin, Snapshot: Ref{Step: 7}, Reason: reason, By: "me"}}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRuleOfServing(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.batches(1)
	first := j.saveJudged(true)
	j.batches(1)
	second := j.saveJudged(true)
	wrong := second
	wrong.Snapshot[3]++
	j.void(j.serving(Pin, wrong), "there is no snapshot")
	wrong = second
	wrong.Start--
	j.void(j.serving(Pin, wrong), "there is no snapshot")
	wrong = second
	wrong.Offset = 1000
	j.void(j.serving(Pin, wrong), "is not before it")
	wrong = second
	wrong.Seq = 3
	j.void(j.serving(Pin, wrong), "is not before it")
	other := j.serving(Pin, first)
	other.Nonce[2]++
	j.void(other, "current claim")
	for _, bad := range []*Serving{{Choice: Choice{Mode: "x", Snapshot: first}}, {Choice: Choice{Mode: Hold}}, {Choice: Choice{Mode: Hold, Snapshot: first, Reason: strings.Repeat("x", 2000)}}} {
		bad.Owner = j.owner()
		if _, _, err := Encode(bad); err == nil {
			t.Errorf("%v can be written", bad)
		}
	}
	// A rollback ends what was chosen after its target.
	j.counts(j.serving(Pin, second))
	r := &Rollback{Owner: j.owner(), Seq: j.fold.Highest() + 1, ToSeq: first.Seq}
	r.ToChain, _ = j.fold.ChainAt(first.Seq)
	r.Chain = NextChain(j.fold.Chain(), r)
	j.counts(r)
	if c, ok := j.fold.Serves(); !ok || c.Mode != Follow || c.Snapshot != first {
		t.Errorf("after the rollback: %v, %v", c, ok)
	}
}
