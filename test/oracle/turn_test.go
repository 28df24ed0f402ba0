package oracle_test

import (
	"testing"
	"time"

	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/oracle"
)

// turned is a world that a test extends by hand.
type turned struct {
	spoiled
	owner modellog.Owner
	seq   int64 // last seq
	chain map[int64]snapshot.Hash
}

// turn claims the log of a valid world after removing the last BATCHes.
func turn(t *testing.T, good oracle.World, lost int) turned {
	w := good
	s := spoiled{t, &w}
	w.Log = clone(good.Log)
	if lost > 0 {
		w.Log = w.Log[:s.at("batch", lost-1)]
	}
	out := turned{spoiled: s, owner: modellog.Owner{Epoch: 9, Nonce: snapshot.ID{9}}, chain: map[int64]snapshot.Hash{}}
	for _, r := range w.Log {
		if p, err := modellog.Parse(r.Key, r.Value); err != nil {
			t.Fatal(err)
		} else if b, ok := p.(*modellog.Batch); ok {
			out.seq, out.chain[b.Seq] = b.Seq, b.Chain
		}
	}
	out.write(&modellog.Claim{Owner: out.owner, Host: "hand"})
	return out
}

func (w turned) write(rs ...modellog.Record) {
	for _, r := range rs {
		key, value, err := modellog.Encode(r)
		if err != nil {
			w.Fatal(err)
		}
		w.appended(oracle.Record{Key: key, Value: value})
	}
}

func (w turned) rollback(seq, to int64) *modellog.Rollback {
	r := &modellog.Rollback{Owner: w.owner, Seq: seq, ToSeq: to, ToChain: w.chain[to], Reason: "a test", By: "hand"}
	r.Chain = modellog.NextChain(w.chain[w.seq], r)
	return r
}

// adopt returns an ADOPT of both partitions of the world's input, under another
// id and name.
func (w turned) adopt(id snapshot.TopicID) *modellog.Adopt {
	in := modellog.Adopted{Topic: w.first().Topic, TopicID: w.IDs[w.first().Topic], NewTopic: "mirrored", NewID: id}
	for p := range int32(2) {
		in.Partitions = append(in.Partitions, modellog.AdoptedPartition{Partition: p, From: 200, Next: 1000})
	}
	r := &modellog.Adopt{Owner: w.owner, Seq: w.seq + 1, Inputs: []modellog.Adopted{in}, By: "hand"}
	r.Chain = modellog.NextChain(w.chain[w.seq], r)
	return r
}

func (w turned) upgrade() *modellog.Upgrade {
	r := &modellog.Upgrade{Owner: w.owner, Seq: w.seq + 1, Versions: modellog.Versions{Arithmetic: 2, Decoder: 1}, Writer: "2"}
	r.Chain = modellog.NextChain(w.chain[w.seq], r)
	return r
}

// TestOracleFollowsATurnOfTheHistory: what a ROLLBACK revokes is abandoned,
// whether or not the log still contains it, and is not a fault.
func TestOracleFollowsATurnOfTheHistory(t *testing.T) {
	good := rightWorld(t)
	for name, c := range map[string]struct {
		lost      int
		turn      func(w turned)
		rollbacks int64
		consumed  int64
	}{
		"back":             {0, func(w turned) { w.write(w.rollback(w.seq+1, w.seq-3)) }, 1, 250},
		"back to nothing":  {0, func(w turned) { w.chain[0] = snapshot.Hash{}; w.write(w.rollback(w.seq+1, 0)) }, 1, 0},
		"behind lost ones": {3, func(w turned) { w.write(w.rollback(w.seq+4, w.seq)) }, 1, 250},
		"twice": {0, func(w turned) {
			one := w.rollback(w.seq+7, w.seq-3)
			w.write(one)
			w.chain[w.seq] = one.Chain
			w.write(w.rollback(w.seq+8, w.seq-4))
		}, 2, 200},
		"adopted":         {0, func(w turned) { w.write(w.adopt(snapshot.TopicID{7})) }, 0, 400},
		"upgraded":        {0, func(w turned) { w.write(w.upgrade()) }, 0, 400},
		"with partitions": {0, func(w turned) { w.write(&modellog.Partitions{Owner: w.owner, Topic: w.first().Topic, Count: 3}) }, 0, 400},
		"a learner went on": {3, func(w turned) { // before it noticed that three are lost
			late := clone(good.Log)[spoiled{t, &good}.at("batch", 1):]
			w.Log = w.Log[:len(w.Log)-1]
			w.appended(late[0])
			w.write(&modellog.Claim{Owner: w.owner, Host: "hand"})
			w.write(w.rollback(w.seq+4, w.seq))
		}, 1, 250},
	} {
		w := turn(t, good, c.lost)
		c.turn(w)
		r := oracle.Check(*w.World)
		if r.Divergences+r.Lost+r.Differing > 0 || r.Rollbacks != c.rollbacks || r.Consumed != c.consumed || (r.Abandoned > 0) != (c.consumed < 400) {
			t.Errorf("%s: %+v", name, r.Faults)
			t.Errorf("%d lost, %d rollbacks, %d consumed, %d abandoned", r.Lost, r.Rollbacks, r.Consumed, r.Abandoned)
		}
	}
}

// TestOracleSeesAWrongTurn checks that invalid changes of the history are
// faults.
func TestOracleSeesAWrongTurn(t *testing.T) {
	good := rightWorld(t)
	for name, c := range map[string]struct {
		lost int
		turn func(w turned)
	}{
		"lost, and nobody says so":    {3, func(w turned) {}},
		"fewer taken back than lost":  {3, func(w turned) { w.write(w.rollback(w.seq+2, w.seq)) }},
		"a seq that was used":         {0, func(w turned) { w.write(w.rollback(w.seq, w.seq-1)) }},
		"back to another history":     {0, func(w turned) { w.chain[w.seq-1] = snapshot.Hash{1}; w.write(w.rollback(w.seq+1, w.seq-1)) }},
		"back to what never was":      {0, func(w turned) { w.write(w.rollback(w.seq+3, w.seq+1)) }},
		"a ROLLBACK of another chain": {0, func(w turned) { r := w.rollback(w.seq+1, w.seq-1); r.ToSeq--; w.write(r) }},
		"an ADOPT from elsewhere": {0, func(w turned) {
			r := w.adopt(snapshot.TopicID{7})
			r.Inputs[0].Partitions[1].From--
			r.Chain = modellog.NextChain(w.chain[w.seq], r)
			w.write(r)
		}},
		"an ADOPT of another topic": {0, func(w turned) {
			r := w.adopt(snapshot.TopicID{7})
			r.Inputs[0].TopicID[0]++
			r.Chain = modellog.NextChain(w.chain[w.seq], r)
			w.write(r)
		}},
		"an ADOPT of another chain":   {0, func(w turned) { r := w.adopt(snapshot.TopicID{7}); r.Inputs[0].NewID[0]++; w.write(r) }},
		"an UPGRADE of another chain": {0, func(w turned) { r := w.upgrade(); r.Arithmetic++; w.write(r) }},
		"a GENESIS behind BATCHes": {0, func(w turned) {
			w.write(&modellog.Genesis{Owner: w.owner, Model: "m", Versions: modellog.Versions{Arithmetic: 1, Decoder: 1}})
		}},
	} {
		w := turn(t, good, c.lost)
		c.turn(w)
		if r := oracle.Check(*w.World); r.Divergences+r.Lost == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}

// TestOracleAgreesWithARollback compares the oracle with a ROLLBACK of the
// pipeline, with and without loss of the log's tail, and with what is learned
// afterwards.
func TestOracleAgreesWithARollback(t *testing.T) {
	disk := kafkatest.NewDisk(t)
	c, in := kafkatest.ClientOf(t, disk.Addr, nil), kafkatest.Name("rings")
	cfg := config(c, in, "rings")
	values := records("rings", 600)
	for i, lose := range []func(){
		func() {},
		func() { disk.Down(func() { disk.Cut(cfg.Model+".log", 0, 9) }) },
		func() {},
	} {
		kafkatest.Fill(t, c, in, 2, values[200*i:200*i+200])
		before := time.Now()
		learnAll(t, cfg)
		lose()
		c = kafkatest.ClientOf(t, disk.Addr, nil) // the connections of the previous client are closed
		cfg.Client = c
		if i == 0 {
			continue
		}
		var to admin.RollbackTo
		if i == 2 {
			to.Before = before
		}
		if _, err := admin.Rollback(t.Context(), cfg, to); err != nil {
			t.Fatal(err)
		}
		learnAll(t, cfg)
		w, err := oracle.Load(t.Context(), []string{disk.Addr}, cfg.Model, in)
		if err != nil {
			t.Fatal(err)
		}
		r := oracle.Check(w)
		if r.Divergences+r.Lost+r.Differing > 0 || r.Rollbacks != int64(i) || r.Abandoned == 0 || r.Consumed != int64(200*i+200) {
			t.Errorf("%d lost, %d differing, %d rollbacks, %d abandoned, %d consumed: %q", r.Lost, r.Differing, r.Rollbacks, r.Abandoned, r.Consumed, r.Faults)
		}
	}
}

// TestOracleLetsASnapshotBeWrittenAgain checks that a manifest may come twice if all
// chunks of its snapshot do, as after a late chunk of another one, and not otherwise.
func TestOracleLetsASnapshotBeWrittenAgain(t *testing.T) {
	good := rightWorld(t)
	for _, whole := range []bool{true, false} {
		w := good
		w.Log = clone(good.Log)
		s := spoiled{t, &w}
		at := s.at("manifest", 0)
		chunks := at
		for string(w.Log[chunks-1].Key) == "chunk" {
			chunks--
		}
		if chunks == at {
			t.Fatal("the last snapshot has no chunk directly before its manifest")
		}
		again := clone(w.Log[chunks : at+1])
		if !whole {
			again = again[1:]
		}
		for _, r := range again {
			s.appended(r)
		}
		s.replace(s.last("manifest"), `"first_chunk":`, `"first_chunk":1`)
		if r := oracle.Check(w); (r.Divergences > 0) == whole {
			t.Errorf("all chunks again: %v; faults %v", whole, r.Faults)
		}
	}
}
