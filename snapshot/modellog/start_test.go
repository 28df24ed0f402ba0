package modellog

import (
	"reflect"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

func start() *Start {
	return &Start{
		Kind: StartRebuild, Name: "a", Seq: 7, Chain: hash("seven"), Without: []string{"key=<&>"},
		Step: 3, StateHash: hash("state"), Positions: []snapshot.Position{{Topic: "in", Partition: 0, Next: 4}, {Topic: "in", Partition: 1, Next: 5}},
	}
}

// The chain of a log with a start is the hash of the start as the log has it, and readers
// that begin at a snapshot know of it, too.
func TestAStartIsPartOfTheChain(t *testing.T) {
	from := newJournal(t)
	from.counts(claim(1, 1))
	from.batches(5)
	rs, m := from.snapshot(700)

	g := genesis(claim(1, 1).Owner, snapshot.TopicID{}, 5)
	g.Chain, g.Import, g.Start = from.fold.Chain(), 5, start()
	text := string(mustEncode(t, g))
	_, text, _ = strings.Cut(text, `"start":`)
	text = text[:strings.Index(text, `,"arithmetic"`)]
	if got, want := g.Start.Hash(), hash("accrete start 1\x00"+text); got != want {
		t.Errorf("hash %v, of the bytes in the log %v", got, want)
	}
	r, err := Parse([]byte("genesis"), mustEncode(t, g))
	if err != nil || !reflect.DeepEqual(r.(*Genesis).Start, g.Start) {
		t.Errorf("parsed %+v, %v", r, err)
	}

	j := newJournal(t)
	j.counts(claim(1, 1), g)
	if _, ok := j.fold.Recover(0); ok || j.fold.Genesis().Import != 5 {
		t.Error("a start without its snapshot is complete")
	}
	j.counts(rs...)
	if _, ok := j.fold.Oldest(); ok {
		t.Error("a log without its beginning leads to a state before its first snapshot")
	}
	j.counts(j.finish(m), &Imported{Owner: claim(1, 1).Owner, Seq: 5, Chain: g.Chain})
	j.batches(2)
	late := j.save()
	if r, ok := j.fold.Oldest(); !ok || r.Snapshot == nil || r.Seq != 5 {
		t.Errorf("it leads from %+v on, want from the snapshot of the start", r)
	}
	if r, ok := from.fold.Oldest(); !ok || r.Snapshot != nil || r.Seq != 0 {
		t.Errorf("a log with its beginning leads from %+v on", r)
	}
	for _, f := range []*Fold{j.fold, j.from(late.Start.Offset, 1)} {
		if o := f.Genesis(); o.Import != 0 || o.Start == nil || !o.Start.Is(g.Start) {
			t.Errorf("genesis %+v, want the start and no import", o)
		}
	}
}

func TestInvalidStartsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Genesis){
		"of an unknown kind":  func(g *Genesis) { g.Start.Kind = "x" },
		"without an import":   func(g *Genesis) { g.Import = 0 },
		"at seq 0":            func(g *Genesis) { g.Seq, g.Import, g.Chain = 0, 0, snapshot.Hash{} },
		"with two positions":  func(g *Genesis) { g.Start.Positions[1].Partition = 0 },
		"before a first one":  func(g *Genesis) { g.Start.Positions[0].Next = -1 },
		"without a topic":     func(g *Genesis) { g.Start.Positions[0].Topic = "" },
		"with endless filter": func(g *Genesis) { g.Start.Without = make([]string, maxWithout+1) },
	} {
		g := genesis(claim(1, 1).Owner, snapshot.TopicID{}, 5)
		g.Chain, g.Import, g.Start = hash("chain"), 5, start()
		if change(g); g.check() == nil {
			t.Errorf("a start %s is accepted", name)
		}
	}
}
