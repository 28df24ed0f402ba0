package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/oracle"
)

const modelName = "m"

// world is one schedule.
type world struct {
	seed    uint64
	r       *rand.Rand
	more    *rand.Rand // for the faults of adversity_test.go, so that they do not change what r draws
	c       *cluster
	own     *ingest.Client
	feeder  *ingest.Producer
	config  model.Config
	parts   int
	fed     int    // number of records in the input
	input   string // topic
	adverse bool   // elections and oversized records
	healthy bool
	lossy   bool     // an output topic has lost its tail
	shorter cut      // of the log
	rewound bool     // input that was learned from is gone, so that the oracle cannot compute it
	mirrors []string // earlier input topics
	stopped bool     // no learner can continue, as intended
	rates   rates

	ids       int
	processes []*process // running processes, and those whose exit was not checked yet
	late      []*call    // appends that may still be delivered
	trace     strings.Builder
	expect    func(error) bool // error with which a learner must exit now; nil for none
	violation string
	stats     stats
	damagedAt int64 // offset of the chunk that was damaged last
}

// cut is a loss of the log's tail.
type cut struct {
	seq   int64 // at which the log ended afterwards
	order int   // of the last batch that was stored before in any topic; 0: there was no loss
}

// rates is how often something happens, per thousand steps.
type rates struct {
	kill, start, pause, feed, late, wait, fault, duel, overtake int
}

// stats counts the events of the schedules, to show that they cover the faults.
type stats struct {
	Steps, Kills, Starts, Paused, Duels, Overtaken, Fenced, Lost, Late, Refused, Damaged, FellBack int
	Batches, Records, Void, Snapshots, Duplicates                                                  int64
	Refusals                                                                                       int // because of a history that does not match
	Challengers                                                                                    int
	Elections, Oversized                                                                           int
	Endings                                                                                        map[string]int // by name
}

func (s *stats) add(t stats) {
	s.Steps += t.Steps
	s.Kills += t.Kills
	s.Starts += t.Starts
	s.Paused += t.Paused
	s.Duels += t.Duels
	s.Overtaken += t.Overtaken
	s.Fenced += t.Fenced
	s.Lost += t.Lost
	s.Late += t.Late
	s.Refused += t.Refused
	s.Damaged += t.Damaged
	s.FellBack += t.FellBack
	s.Batches += t.Batches
	s.Records += t.Records
	s.Void += t.Void
	s.Snapshots += t.Snapshots
	s.Duplicates += t.Duplicates
	s.Refusals += t.Refusals
	s.Challengers += t.Challengers
	s.Elections += t.Elections
	s.Oversized += t.Oversized
	for name, n := range t.Endings {
		if s.Endings == nil {
			s.Endings = map[string]int{}
		}
		s.Endings[name] += n
	}
}

// process is one run of a learner.
type process struct {
	id     int
	client *ingest.Client
	cancel context.CancelFunc
	paused bool
	dead   bool // killed: none of its requests reaches the cluster

	mu     sync.Mutex
	ended  bool
	opened bool
	err    error
	events []event.Event
	lags   map[int32]event.Lag // the newest, by partition of the input
}

func (p *process) report(ev event.Event) {
	switch ev := ev.(type) {
	case event.Lag:
		p.mu.Lock()
		if p.lags == nil {
			p.lags = map[int32]event.Lag{}
		}
		p.lags[ev.Partition] = ev
		p.mu.Unlock()
	case event.Damaged, event.Unreadable, event.Claimed:
		p.mu.Lock()
		p.events = append(p.events, ev)
		p.mu.Unlock()
	}
}

// claimed returns the epoch of its claim, or 0 if it has none.
func (p *process) claimed() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ev := range p.events {
		if ev, ok := ev.(event.Claimed); ok {
			return ev.Epoch
		}
	}
	return 0
}

func newWorld(seed uint64) *world {
	w := &world{seed: seed, input: "in", r: rand.New(rand.NewPCG(seed, 11)), more: rand.New(rand.NewPCG(seed, 12)), c: newCluster()}
	w.own = w.c.client()
	w.feeder = w.own.Producer()
	w.c.most = func() int { return 1 + w.r.IntN(6) }
	w.parts = 1 + w.r.IntN(3)
	w.c.create(w.input, w.parts, map[string]string{"cleanup.policy": "delete", "retention.ms": "-1"})
	w.rates = rates{
		kill: w.r.IntN(8), start: w.r.IntN(8), pause: w.r.IntN(12), feed: 5 + w.r.IntN(30),
		late: w.r.IntN(60), wait: 20 + w.r.IntN(150), fault: w.r.IntN(150),
	}
	w.config = model.Config{
		Model: modelName, Topics: []string{w.input}, Decode: decode.Config{Label: "label"},
		Learner:   learner.Config{BlockSize: 8, MaxFeatures: 32, Minibatch: 4},
		BatchSize: 1 + w.r.IntN(24), Linger: 5 * time.Millisecond,
		SnapshotEvery: time.Duration(1+w.r.IntN(40)) * 50 * time.Millisecond, ReplayLimit: time.Hour,
		Keep: 1 + w.r.IntN(3), History: []int64{1 << 30, 40 << 10}[w.r.IntN(2)], ChunkBytes: 8 << 10,
		Transactional: w.r.IntN(3) == 0,
		OnGap:         []string{"stop", "stop", "record"}[w.r.IntN(3)],
	}
	w.config.Learner.BlockSize, w.config.Learner.Algorithm = 8, []string{"dsg", "newton"}[w.r.IntN(2)]
	if w.config.Learner.Algorithm == "newton" { // not drawn, see below
		w.config.Learner.Mixture = seed%5 == 2
	}
	if w.config.Transactional {
		w.rates.duel = w.r.IntN(8)
	}
	if seed%4 == 1 && w.config.History < 1<<30 { // not drawn, see below
		w.rates.overtake = 6
	}
	w.adverse = adversity() && seed%4 == 3
	if w.adverse {
		for name, n := range map[string]int{model.PredictionsTopic(modelName): w.parts, model.QuarantineTopic(modelName): 1} {
			w.c.create(name, n, map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", "max.message.bytes": strconv.Itoa(record.MinMessageBytes)})
		}
	}
	if seed%3 == 0 { // not drawn from the random numbers, so that existing seeds keep their schedules
		w.config.Refit = model.RefitConfig{Every: 200 * time.Millisecond, Window: 60, Tolerance: 1e-2, Lambda: 1e-3}
	}
	return w
}

func (w *world) note(format string, args ...any) {
	fmt.Fprintf(&w.trace, "%v ", time.Since(epoch).Round(time.Millisecond))
	fmt.Fprintf(&w.trace, format+"\n", args...)
}

// epoch is the initial time of a synctest bubble.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *world) fail(format string, args ...any) {
	if w.violation == "" {
		w.violation = fmt.Sprintf(format, args...)
		w.note("VIOLATION: %s", w.violation)
	}
}

// feed appends up to n records to the partitions of the input. It includes
// other content of Kafka topics: aborted transactions, offsets without a
// record, and values that are not examples.
func (w *world) feed(n int) {
	for n > 0 {
		p := w.r.IntN(w.parts)
		part := w.c.part(w.input, int32(p))
		if w.config.OnGap == "record" && w.r.IntN(24) == 0 {
			w.c.hole(part, 1+w.r.IntN(4))
			continue
		}
		rs := make([]ingest.Record, 1+w.r.IntN(min(n, 12)))
		n -= len(rs)
		for i := range rs {
			rs[i] = ingest.Record{Time: 1_000 + int64(w.fed), Key: fmt.Append(nil, w.fed), Value: []byte(w.value())}
			if w.adverse {
				w.oversize(&rs[i])
			}
			w.fed++
		}
		if err := w.feeder.Publish(context.Background(), w.input, p, rs); err != nil {
			panic(err)
		}
		if w.r.IntN(12) == 0 {
			w.c.mu.Lock()
			w.c.abort(part)
			w.c.mu.Unlock()
		}
	}
}

func (w *world) value() string {
	x, y := w.r.NormFloat64(), w.r.NormFloat64()
	label := fmt.Sprintf(`,"label":"%v"`, map[bool]string{true: "in", false: "out"}[math.Hypot(x, y) < 1.2])
	switch w.r.IntN(30) {
	case 0:
		return `{"features":{"x":1,"y":null},"label":"in"}` // x alone could be the first record and determine the columns for all
	case 1:
		return `{"features":`
	case 2, 3:
		label = ""
	case 4:
		label = `,"label":"other"`
	}
	return fmt.Sprintf(`{"features":{"x":%v,"y":%v}%s}`, x, y, label)
}

// start starts a learner.
func (w *world) start(toEnd bool) *process {
	p := w.process(func(ctx context.Context, p *process, c model.Config) error {
		c.ToEnd = toEnd
		l, err := pipeline.Open(ctx, c)
		if err != nil {
			return err
		}
		p.mu.Lock()
		p.opened = true
		p.mu.Unlock()
		return l.Run(ctx)
	})
	w.note("start %d", p.id)
	return p
}

// process starts a process that calls run.
func (w *world) process(run func(context.Context, *process, model.Config) error) *process {
	w.ids++
	w.stats.Starts++
	p := &process{id: w.ids}
	client, err := ingest.New(ingest.Config{Brokers: []string{"sim:9092"}, MaxWait: 200 * time.Millisecond, Exchange: w.c.exchange(p)})
	if err != nil {
		panic(err)
	}
	var ctx context.Context
	p.client = client
	ctx, p.cancel = context.WithCancel(context.Background())
	c := w.config
	c.Client, c.Report = client, p.report
	w.processes = append(w.processes, p)
	go func() {
		err := run(ctx, p, c)
		p.mu.Lock()
		p.ended, p.err = true, err
		p.mu.Unlock()
	}()
	return p
}

// kill ends a process at once. Requests that it has sent may still arrive.
func (w *world) kill(p *process) {
	w.note("kill %d", p.id)
	w.stats.Kills++
	w.c.mu.Lock()
	p.dead = true
	for _, k := range w.c.calls {
		if k.from == p {
			if _, ok := k.req.(*kmsg.ProduceRequest); ok && !k.abandoned && w.r.IntN(2) == 0 {
				w.late = append(w.late, k)
			}
			k.done <- answer{nil, true, errDead}
		}
	}
	w.c.calls = removeFrom(w.c.calls, p)
	w.c.mu.Unlock()
	p.client.Close()
	p.cancel()
}

func removeFrom(calls []*call, p *process) (rest []*call) {
	for _, k := range calls {
		if k.from != p {
			rest = append(rest, k)
		}
	}
	return rest
}

// reap checks the processes that have exited.
func (w *world) reap() {
	rest := w.processes[:0]
	for _, p := range w.processes {
		p.mu.Lock()
		ended, opened, err := p.ended, p.opened, p.err
		p.mu.Unlock()
		if !ended {
			rest = append(rest, p)
			continue
		}
		w.note("%d ended: %v", p.id, err)
		w.look(p)
		w.c.mu.Lock()
		w.c.calls = removeFrom(w.c.calls, p)
		w.c.mu.Unlock()
		p.client.Close()
		p.cancel()
		switch {
		case p.dead, err == nil:
		case w.expect != nil && w.expect(err):
		case errors.Is(err, pipeline.ErrFenced):
			w.stats.Fenced++
		case !opened && ingest.Temporary(err): // a supervisor restarts it
		case !opened && w.stats.Damaged > 0 && errors.Is(err, snapshot.ErrCorrupt): // it had read this snapshot before the damage
		case w.stats.Damaged > 0 && errors.Is(err, pipeline.ErrLog) && strings.Contains(err.Error(), fmt.Sprintf("record %d differs", w.damagedAt)): // it had written this chunk, and read it again
		default:
			w.fail("learner %d ended (opened: %v) with: %v", p.id, opened, err)
		}
	}
	w.processes = rest
}

func (w *world) look(p *process) {
	for _, ev := range p.events {
		switch ev := ev.(type) {
		case event.Damaged:
			w.stats.FellBack++
			w.note("%d: snapshot %s: %v", p.id, ev.ID, ev.Err)
		case event.Unreadable:
			w.stats.FellBack++
			w.note("%d: offset %d of the log: %s", p.id, ev.Offset, ev.Why)
		}
	}
}

func (w *world) pick(which func(*process) bool) *process {
	var all []*process
	for _, p := range w.processes {
		if !p.dead && which(p) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[w.r.IntN(len(all))]
}

// step waits until all goroutines are blocked, and then does one thing.
func (w *world) step() {
	synctest.Wait()
	w.reap()
	w.stats.Steps++
	k := w.r.IntN(1000)
	happens := func(rate int) bool {
		k -= rate
		return k < 0
	}
	running := func(p *process) bool { return !p.paused }
	if w.pick(running) == nil && len(w.processes) < 4 {
		w.start(false)
		return
	}
	switch rates := w.rates; {
	case happens(rates.kill):
		if p := w.pick(func(*process) bool { return true }); p != nil {
			w.kill(p)
		}
		return
	case happens(rates.start):
		if len(w.processes) < 4 {
			w.start(false)
		}
		return
	case happens(rates.pause):
		if p := w.pick(func(*process) bool { return true }); p != nil {
			p.paused = !p.paused
			w.note("%d paused: %v", p.id, p.paused)
			w.stats.Paused++
		}
		return
	case happens(rates.feed):
		if w.fed < 260 {
			w.feed(1 + w.r.IntN(16))
		}
		return
	case happens(rates.late):
		w.arriveLate()
		return
	case happens(rates.wait):
		w.wait()
		return
	case happens(rates.duel):
		w.duel()
		return
	case happens(rates.overtake):
		w.overtake()
		return
	}
	if w.adverse && w.more.IntN(60) == 0 {
		w.election()
	}
	calls := w.c.ready(func(k *call) bool { return !k.from.paused && !k.from.dead })
	if len(calls) == 0 {
		w.wait()
		return
	}
	w.answer(calls[w.r.IntN(len(calls))])
}

// duel produces a situation that is rare at random: a learner decides more than
// the cluster lets it release, its successor releases a part of that, and then
// the cluster answers only the first learner again.
func (w *world) duel() {
	old := w.pick(func(p *process) bool { return !p.paused && p.claimed() > 0 })
	if old == nil || len(w.processes) > 3 {
		return
	}
	w.note("duel of %d", old.id)
	w.stats.Duels++
	w.feed(4 * w.config.BatchSize)
	w.let(100, func(k *call) bool { return k.from == old && !releases(k.req) }, func() bool { return false })
	next, from := w.start(false), w.commits()
	some := 1 + w.r.IntN(3)
	w.let(300, func(k *call) bool { return k.from == next }, func() bool { return w.commits() >= from+some })
	w.let(60, func(k *call) bool { return k.from == old }, func() bool { return false })
}

// overtake produces another one: a learner has read the log and claimed it, and before
// it reads its snapshot a successor deletes that snapshot, because it has saved others.
func (w *world) overtake() {
	log := w.c.part(model.LogTopic(modelName), 0)
	if log == nil || len(w.processes) > 2 {
		return
	}
	old := w.start(false)
	w.let(100, func(k *call) bool { return k.from == old }, func() bool { return old.claimed() > 0 })
	kept := w.fold(log).Snapshots()
	if old.claimed() == 0 || w.over(old) || len(kept) == 0 {
		return
	}
	w.note("%d is overtaken", old.id)
	w.stats.Overtaken++
	next, saved := w.start(false), kept[0].Chunks[0]
	w.let(1500, func(k *call) bool { return k.from == next }, func() bool {
		if w.fed < 400 && w.r.IntN(20) == 0 {
			w.feed(4)
		}
		if w.over(next) { // a supervisor restarts it
			next = w.start(false)
		}
		return log.start > saved
	})
	w.let(20, func(k *call) bool { return k.from == old }, func() bool { return w.over(old) })
}

// commits returns the number of commit markers of releases.
func (w *world) commits() int {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if p := w.c.part(model.ReleasedTopic(modelName), 0); p != nil {
		return p.commits
	}
	return 0
}

// releases reports whether a request is part of a release.
func releases(req kmsg.Request) bool {
	switch req := req.(type) {
	case *kmsg.InitProducerIDRequest:
		return req.TransactionalID != nil
	case *kmsg.AddPartitionsToTxnRequest, *kmsg.EndTxnRequest:
		return true
	case *kmsg.ProduceRequest:
		return req.Topics[0].Topic != model.LogTopic(modelName)
	}
	return false
}

// let answers only the selected calls, until done or for the given number of
// steps.
func (w *world) let(steps int, which func(*call) bool, done func() bool) {
	for range steps {
		synctest.Wait()
		w.reap()
		if w.violation != "" || done() {
			return
		}
		calls := w.c.ready(which)
		if len(calls) == 0 {
			time.Sleep(6 * time.Millisecond)
			w.expire()
			continue
		}
		w.answer(calls[w.r.IntN(len(calls))])
	}
}

// wait advances the clock, occasionally beyond the request timeout.
func (w *world) wait() {
	d := []time.Duration{time.Millisecond, 6 * time.Millisecond, 60 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second}[w.r.IntN(5)]
	if w.r.IntN(40) == 0 {
		d = 15 * time.Second
	}
	time.Sleep(d)
	w.expire()
}

func (w *world) expire() {
	w.c.mu.Lock()
	w.c.expire()
	w.c.mu.Unlock()
}

// arriveLate stores an append that its sender has given up on.
func (w *world) arriveLate() {
	if len(w.late) == 0 {
		return
	}
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.arrive(w.r.IntN(len(w.late)))
}

func (w *world) arrive(i int) {
	k := w.late[i]
	w.late = append(w.late[:i:i], w.late[i+1:]...)
	w.note("late: %s", describe(k, w.c.handle(k.req)))
	w.stats.Late++
}

// isChunk reports whether k appends a chunk of a snapshot.
func isChunk(k *call) bool {
	p, ok := k.req.(*kmsg.ProduceRequest)
	return ok && bytes.Contains(p.Topics[0].Partitions[0].Records, []byte("\x89ACK"))
}

// answer answers a call, or injects a fault of the network or the broker
// instead.
func (w *world) answer(k *call) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.c.remove(k)
	produce, isProduce := k.req.(*kmsg.ProduceRequest)
	if k.abandoned {
		if isProduce && w.r.IntN(2) == 0 {
			w.late = append(w.late, k)
		}
		return
	}
	rate := w.rates.fault
	if !isProduce {
		rate /= 6
	}
	if w.healthy || w.r.IntN(1000) >= rate {
		resp := w.c.handle(k.req)
		if isChunk(k) && w.r.IntN(3) == 0 { // a late chunk does most harm right after another chunk
			if i := slices.IndexFunc(w.late, func(l *call) bool { return l.from == k.from && isChunk(l) }); i >= 0 {
				defer w.arrive(i)
			}
		}
		switch resp := resp.(type) {
		case *kmsg.ProduceResponse:
			w.note("%s", describe(k, resp))
		case *kmsg.EndTxnResponse:
			w.note("%d ends a transaction (%d)", k.from.id, resp.ErrorCode)
		case *kmsg.InitProducerIDResponse:
			w.note("%d is producer %d, epoch %d (%d)", k.from.id, resp.ProducerID, resp.ProducerEpoch, resp.ErrorCode)
		}
		k.done <- answer{resp, true, nil}
		return
	}
	w.stats.Lost++
	kind := w.r.IntN(6)
	switch {
	case kind == 0: // it is not sent
		k.done <- answer{nil, false, errLost}
	case isProduce && kind == 1: // stored, and the response is lost
		w.note("answer lost: %s", describe(k, w.c.handle(k.req)))
		k.done <- answer{nil, true, errLost}
	case isProduce && kind == 2: // delayed beyond the request timeout
		w.note("delayed: %s", describe(k, nil))
		w.late = append(w.late, k)
		k.done <- answer{nil, true, errLost}
	case isProduce && kind < 5: // refused, or reported as refused
		code := []int16{notLeader, timedOut, notEnoughReplicas, notEnoughAfterAppend}[w.r.IntN(4)]
		if code == notEnoughAfterAppend || code == timedOut && w.r.IntN(2) == 0 {
			w.note("error %d: %s", code, describe(k, w.c.handle(k.req)))
		}
		w.stats.Refused++
		resp := produce.ResponseKind().(*kmsg.ProduceResponse)
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic = produce.Topics[0].Topic
		rp := kmsg.NewProduceResponseTopicPartition()
		rp.Partition, rp.ErrorCode, rp.BaseOffset = produce.Topics[0].Partitions[0].Partition, code, -1
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		k.done <- answer{resp, true, nil}
	default:
		k.done <- answer{nil, true, errLost}
	}
}

func describe(k *call, resp kmsg.Response) string {
	p := k.req.(*kmsg.ProduceRequest)
	t := p.Topics[0]
	s := fmt.Sprintf("%d appends %d bytes to %s/%d", k.from.id, len(t.Partitions[0].Records), t.Topic, t.Partitions[0].Partition)
	if r, ok := resp.(*kmsg.ProduceResponse); ok {
		s += fmt.Sprintf(" at %d (%d)", r.Topics[0].Partitions[0].BaseOffset, r.Topics[0].Partitions[0].ErrorCode)
	}
	return s
}

// damage flips a bit in a chunk of the newest snapshot and recomputes Kafka's
// checksum, and sometimes also that of the chunk. otherwise reports whether a
// learner can continue from an older snapshot or from the beginning.
func (w *world) damage() (damaged, otherwise bool) {
	part := w.c.part(modelName+".log", 0)
	f := w.fold(part)
	kept := f.Snapshots()
	if len(kept) == 0 {
		return false, true
	}
	deep := w.r.IntN(2) == 0
	at := kept[0].Chunks[w.r.IntN(len(kept[0].Chunks))]
	for i := range part.batches {
		if b := &part.batches[i]; b.base <= at && at <= b.last && b.good == nil {
			b.good = slices.Clone(b.raw)
			chunk := b.raw[strings.Index(string(b.raw), "\x89ACK"):]
			chunk = chunk[:64+binary.LittleEndian.Uint32(chunk[56:])]
			chunk[64+w.r.IntN(len(chunk)-64)] ^= 1
			if deep {
				crc := crc32.MakeTable(crc32.Castagnoli)
				binary.LittleEndian.PutUint32(chunk[60:], crc32.Update(crc32.Checksum(chunk[:60], crc), crc, chunk[64:]))
			}
			seal(b.raw)
		}
	}
	w.stats.Damaged++
	w.damagedAt = at
	w.note("the chunk at %d is damaged (deep: %v)", at, deep)
	if deep {
		_, otherwise = f.Recover(1)
		return true, otherwise
	}
	_, otherwise = w.fold(part).Recover(0)
	return true, otherwise
}

// fold reads the log as a starting learner does.
func (w *world) fold(log *part) *modellog.Fold {
	f := modellog.NewFold(log.start, w.config.Keep)
	in := w.own.Fetcher(modelName+".log", 0)
	for next := log.start; next < log.end; {
		got, err := in.Poll(context.Background(), next)
		if ingest.Temporary(err) { // another leader
			continue
		}
		if err != nil {
			panic(err)
		}
		for _, r := range got.Records {
			if _, err := f.Add(r.Offset, r.Key, r.Value); err != nil {
				panic(err)
			}
		}
		next = got.Next
	}
	return f
}

// run executes a schedule from its beginning to the report of the oracle.
func (w *world) run() {
	defer w.own.Close()
	w.feed(20)
	for range 300 + w.r.IntN(900) {
		if w.step(); w.violation != "" {
			break
		}
	}
	w.liveness()
	w.check()
	for _, p := range w.processes {
		w.kill(p)
	}
	synctest.Wait()
	time.Sleep(time.Minute) // for goroutines that wait for the clock
	synctest.Wait()
}

// liveness removes all faults. A learner started now must reach the end of its
// input, paused learners must find that they are fenced, and new records must
// be learned too.
func (w *world) liveness() {
	if w.violation != "" {
		return
	}
	w.healthy = true
	w.rates = rates{wait: 100}
	for _, p := range w.processes {
		if !p.dead && (!p.paused || w.r.IntN(3) == 0) {
			w.kill(p)
		}
	}
	if w.ending() {
		return
	}
	damaged, otherwise := false, true
	if w.r.IntN(3) == 0 {
		damaged, otherwise = w.damage()
	}
	if !otherwise {
		w.refused("a damaged snapshot and nothing before it", func(err error) bool { return errors.Is(err, snapshot.ErrCorrupt) })
		return
	}
	if what, why := w.spoil(); what != "" {
		w.refused(what, why)
		return
	}
	if !damaged && w.harm() {
		return
	}
	last := w.finish("after the faults")
	if back := w.stats.FellBack; damaged && back == 0 {
		w.fail("the damaged snapshot was not noticed")
	}
	w.feed(1 + w.r.IntN(30))
	for _, p := range w.processes {
		p.paused = false
	}
	for range 4 * w.parts {
		w.feed(4) // to each partition, so that every learner has something to decide
	}
	// A learner that was paused before its claim is not fenced, because its
	// claim is the last one.
	w.steps("zombies", func() bool {
		return len(w.processes) == 0 || len(w.processes) == 1 && w.processes[0].claimed() > last.claimed()
	})
	for len(w.late) > 0 {
		w.arriveLate()
	}
	w.finish("after the zombies")
}

// finish runs one more learner to the end of the input.
func (w *world) finish(when string) *process {
	if w.violation != "" {
		return nil
	}
	p := w.start(true)
	w.steps(when, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended
	})
	if p.err != nil {
		w.fail("%s: the learner ended with: %v", when, p.err)
	}
	return p
}

// spoil occasionally changes the input to one that does not match the history.
// It returns the kind of change and the error with which a learner must detect
// it.
func (w *world) spoil() (what string, why func(error) bool) {
	history := func(err error) bool { return errors.Is(err, pipeline.ErrHistory) }
	if w.c.topics[modelName+".log"] == nil {
		return "", nil
	}
	f := w.fold(w.c.part(modelName+".log", 0))
	r, ok := f.Recover(0)
	if !ok || f.Seq() == 0 {
		return "", nil
	}
	var again []*modellog.Batch // BATCHes that are learned again
	for _, e := range r.Entries {
		if b, ok := e.Record.(*modellog.Batch); ok && b.Counts.Learned > 0 {
			again = append(again, b)
		}
	}
	switch w.r.IntN(16) {
	case 0, 1:
		if len(again) == 0 {
			return "", nil
		}
		b := again[w.r.IntN(len(again))]
		for _, g := range b.Ranges {
			for _, rec := range between(w.c.everything(w.input)[g.Partition], g.From, g.To) {
				if len(rec.Value) > 40 && w.alter(g.Partition, rec) {
					return fmt.Sprintf("record %s/%d of BATCH %d is another one", g.Topic, rec.Offset, b.Seq), history
				}
			}
		}
	case 2:
		w.c.topics[w.input].id[0] ^= 1
		return "the input was created again", history
	case 3:
		if len(again) == 0 || w.config.OnGap == "record" { // the learner then restores its snapshot and continues
			return "", nil
		}
		g := again[w.r.IntN(len(again))].Ranges[0]
		w.c.part(w.input, g.Partition).start = g.To
		return fmt.Sprintf("retention has taken %s/%d up to %d, which is to be learned again", g.Topic, g.Partition, g.To), history
	}
	if w.r.IntN(16) == 0 { // the last record decided
		all := modellog.NewFold(0, 1<<30)
		for _, rec := range w.c.everything(modelName + ".log")[0] {
			if _, err := all.Add(rec.Offset, rec.Key, rec.Value); err != nil {
				panic(err)
			}
		}
		whole, _ := all.Recover(len(all.Snapshots()))
		last := map[int32]modellog.Range{}
		for _, e := range whole.Entries {
			switch rec := e.Record.(type) {
			case *modellog.Batch:
				for _, g := range rec.Ranges {
					last[g.Partition] = g
				}
			case *modellog.Gap:
				delete(last, rec.Partition)
			}
		}
		for i := range int32(w.parts) {
			rs := between(w.c.everything(w.input)[i], last[i].From, last[i].To)
			if len(rs) > 0 && len(rs[len(rs)-1].Value) > 40 && w.alter(i, rs[len(rs)-1]) {
				return fmt.Sprintf("record %d/%d, the last one decided, is another one", i, rs[len(rs)-1].Offset), history
			}
		}
	}
	return "", nil
}

// between returns the records of rs in [from, to).
func between(rs []ingest.Record, from, to int64) (out []ingest.Record) {
	for _, r := range rs {
		if r.Offset >= from && r.Offset < to {
			out = append(out, r)
		}
	}
	return out
}

// alter changes a digit of an input example, unless its batch has the example twice.
func (w *world) alter(partition int32, rec ingest.Record) bool {
	part := w.c.part(w.input, partition)
	for i := range part.batches {
		if s := &part.batches[i]; s.base <= rec.Offset && rec.Offset <= s.last && bytes.Count(s.raw, rec.Value) == 1 {
			s.good = slices.Clone(s.raw)
			at := bytes.Index(s.raw, rec.Value) + bytes.IndexByte(rec.Value, '.') + 1
			s.raw[at] = '0' + (s.raw[at]-'0'+1)%10
			seal(s.raw)
			return true
		}
	}
	return false
}

// refused starts one more learner, which must exit with an error that explains
// why it cannot continue, and must not decide anything.
func (w *world) refused(what string, why func(error) bool) {
	if w.violation != "" {
		return
	}
	w.note("to be refused: %s", what)
	end := w.c.part(modelName+".log", 0).end
	w.expect = why
	p := w.start(true)
	w.steps(what, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended
	})
	w.expect = nil
	if w.violation == "" && p.err == nil {
		w.fail("%s: the learner went on", what)
	}
	for _, rs := range w.c.everything(modelName + ".log") {
		for _, r := range rs {
			if r.Offset >= end && string(r.Key) != "claim" {
				w.fail("%s: the learner wrote a %s at %d", what, r.Key, r.Offset)
			}
		}
	}
	w.stopped = true
	w.stats.Refusals++
}

// steps runs steps until done, which must become true.
func (w *world) steps(what string, done func() bool) {
	for n := 0; w.violation == ""; n++ {
		synctest.Wait()
		w.reap()
		if done() {
			return
		}
		if n > 50_000 {
			w.fail("%s: nothing comes of it", what)
			return
		}
		calls := w.c.ready(func(k *call) bool { return !k.from.paused && !k.from.dead })
		if len(calls) == 0 || w.r.IntN(10) == 0 {
			time.Sleep([]time.Duration{time.Millisecond, 6 * time.Millisecond, 300 * time.Millisecond}[w.r.IntN(3)])
			w.expire()
			continue
		}
		w.answer(calls[w.r.IntN(len(calls))])
	}
}

// check runs the oracle on the topics.
func (w *world) check() {
	read := func(name string) (all []oracle.Record) {
		for _, rs := range w.c.everything(name) {
			all = append(all, records(rs)...)
		}
		return all
	}
	in := oracle.World{
		Model: modelName, Log: read(modelName + ".log"), Inputs: map[oracle.Partition][]oracle.Record{},
		Predictions: read(modelName + ".predictions"), Quarantine: read(modelName + ".quarantine"),
	}
	if t := w.c.topics[modelName+".log"]; t != nil {
		in.LogID = t.id
	}
	committed := int64(0)
	for i, rs := range w.c.everything(w.input) {
		in.Inputs[oracle.Partition{Topic: w.input, Index: int32(i)}] = records(rs)
		committed += int64(len(rs))
	}
	for _, name := range w.mirrors {
		for i, rs := range w.c.everything(name) {
			in.Inputs[oracle.Partition{Topic: name, Index: int32(i)}] = records(rs)
		}
	}
	if w.rewound {
		return
	}
	r := oracle.Check(in)
	if w.violation != "" || w.stopped || w.lossy { // the end was not reached, so predictions may be missing
		r.Lost = 0
	}
	if r.Divergences+r.Lost+r.Differing > 0 {
		w.fail("oracle: %d divergences, %d lost, %d differing: %s", r.Divergences, r.Lost, r.Differing, strings.Join(r.Faults, "; "))
	}
	copies := r.Duplicates
	if r.Rollbacks > 0 { // quarantined records do not say their BATCH: what was rolled back comes again
		copies = repeated(in.Predictions)
	}
	if w.config.Transactional && copies > 0 && !w.lossy {
		w.fail("%d predictions are there more than once, for all that they are released in transactions", copies)
	}
	if done := r.Learned + r.Predicted + r.Quarantined; w.violation == "" && !w.stopped && done != committed {
		w.fail("%d of %d records are dealt with", done, committed)
	}
	w.stats.Batches, w.stats.Records, w.stats.Void = r.Batches, r.Learned+r.Predicted+r.Quarantined, r.Void
	w.stats.Snapshots, w.stats.Duplicates = r.Compared, r.Duplicates
	for _, r := range in.Log {
		if string(r.Key) == "challenger" {
			w.stats.Challengers++
		}
	}
	w.ordered(in, r)
}

// repeated returns the number of predictions that are copies of another one.
func repeated(rs []oracle.Record) (n int64) {
	seen := map[string]bool{}
	for _, r := range rs {
		id := ""
		for _, h := range r.Headers {
			if h.Key == "ce_id" || h.Key == "ce_sequence" {
				id += string(h.Value) + " "
			}
		}
		if seen[id] {
			n++
		}
		seen[id] = true
	}
	return n
}

// records converts rs for the oracle.
func records(rs []ingest.Record) []oracle.Record {
	out := make([]oracle.Record, len(rs))
	for i, r := range rs {
		out[i] = oracle.Record{Offset: r.Offset, Time: r.Time, Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			out[i].Headers = append(out[i].Headers, oracle.Header{Key: h.Key, Value: h.Value})
		}
	}
	return out
}

// ordered checks the order of storage: a prediction comes after its BATCH, and
// all predictions come before a record that declares them released.
func (w *world) ordered(in oracle.World, r oracle.Report) {
	log := w.c.part(modelName+".log", 0)
	first := map[int64]int{} // by seq: when its last prediction first became visible
	seen := map[string]bool{}
	answers := func(topic string, id func(ingest.Record) string) {
		for i, rs := range w.c.everything(topic) {
			part := w.c.part(topic, int32(i))
			for _, rec := range rs {
				at, key := part.visible(rec.Offset), id(rec)
				seq, ok := r.Decided[key]
				if !ok {
					continue // the oracle reports this
				}
				if w.lossy { // what is published again comes after what was lost
					continue
				}
				if at <= w.shorter.order && seq > w.shorter.seq && topic == model.QuarantineTopic(modelName) {
					continue // its BATCH was lost and decided again: nothing but a prediction shows that
				}
				if of := header(rec, "ce_sequence"); r.Rollbacks > 0 && of != strconv.FormatInt(seq, 10) {
					continue // of a BATCH that was rolled back, or quarantined, which does not say its BATCH
				}
				if at < log.orderOf(r.BatchAt[seq]) {
					w.fail("%s was released before BATCH %d was in the log", key, seq)
				}
				if !seen[key] {
					seen[key] = true
					first[seq] = max(first[seq], at)
				}
			}
		}
	}
	answers(modelName+".predictions", func(r ingest.Record) string { return header(r, "ce_id") })
	answers(modelName+".quarantine", func(r ingest.Record) string {
		return header(r, "__connect.errors.topic") + "-" + header(r, "__connect.errors.partition") + "-" + header(r, "__connect.errors.offset")
	})
	for _, m := range r.Manifests {
		at := log.orderOf(m.Offset)
		for seq, when := range first {
			if seq <= m.Seq && when > at {
				w.fail("the record at %d says that everything up to BATCH %d is released, and BATCH %d was not", m.Offset, m.Seq, seq)
			}
		}
	}
}

func header(r ingest.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
