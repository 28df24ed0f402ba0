package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// scorers are three processes that share the partitions of a growing topic and
// score it with the model whose learners are killed at the same time.
type scorers struct {
	*world
	rng     *rand.Rand
	alive   [3]*process
	records int // number of records in the topic
}

const askedPartitions = 6

func (w *world) scores() string { return w.model("crash") + ".scores" }

// killScorers kills scorers at random times: some of the three at once, while
// they score or rebalance, and some again before they have joined. The last
// quarter of the kills waits until the learners have finished, because only
// then does the same model score a record twice.
func (w *world) killScorers(ctx context.Context, s *Summary, learned <-chan struct{}) error {
	if w.options.scorers == 0 {
		return nil
	}
	c := scorers{world: w, rng: rand.New(rand.NewPCG(w.seed, 10))}
	feeding, stop := context.WithCancel(ctx)
	fed := make(chan error, 1)
	go func() { fed <- c.keepAsking(feeding) }()
	err := c.killAll(ctx, s, learned)
	stop()
	if bad := <-fed; err == nil {
		err = bad
	}
	if err != nil {
		return fmt.Errorf("scorers, behind %d kills: %w", s.ScorerKills, err)
	}
	s.ToScore = c.records
	return nil
}

func (c *scorers) killAll(ctx context.Context, s *Summary, learned <-chan struct{}) (err error) {
	defer func() {
		for _, p := range c.alive {
			if p != nil {
				p.end()
			}
		}
	}()
	for s.ScorerKills < c.options.scorers {
		for i, p := range c.alive {
			if p == nil {
				if c.alive[i], err = c.begin(nil, "score", "-c", c.config("crash")); err != nil {
					return err
				}
			}
		}
		if s.ScorerKills >= c.options.scorers*3/4 {
			select {
			case <-learned:
			case <-ctx.Done():
			}
		}
		if c.rng.IntN(3) > 0 { // otherwise before they score or even rebalance
			if err := c.growth(ctx); err != nil {
				return err
			}
		}
		pause(ctx, time.Duration(c.rng.IntN(1000))*time.Millisecond)
		for i := range 1 + c.rng.IntN(len(c.alive)) {
			p := c.alive[i]
			p.signal(syscall.SIGKILL)
			if err := p.killed(); err != nil {
				return err
			}
			c.alive[i] = nil
			s.ScorerKills++
		}
		c.rng.Shuffle(len(c.alive), func(i, j int) { c.alive[i], c.alive[j] = c.alive[j], c.alive[i] })
	}
	return nil
}

// growth waits until a score is written that did not exist when it was called.
func (c *scorers) growth(ctx context.Context) error {
	count := func() (n int64) {
		_, end, err := c.client.Offsets(ctx, c.scores())
		if err != nil { // the topic does not exist yet
			return 0
		}
		for _, e := range end {
			n += e
		}
		return n
	}
	was := count()
	for limit := time.Now().Add(3 * time.Minute); count() <= was; pause(ctx, 20*time.Millisecond) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(limit) {
			for _, p := range c.alive {
				p.end()
			}
			return fmt.Errorf("nothing is scored for three minutes:\n%s", tail(c.alive[0].stderr.String()))
		}
	}
	return nil
}

// keepAsking feeds the topic to be scored until ctx is done.
func (c *scorers) keepAsking(ctx context.Context) error {
	p := c.client.Producer()
	for ctx.Err() == nil {
		for i := range askedPartitions {
			var rs []ingest.Record
			for range 5 {
				at := c.records % len(c.values)
				if c.options.windows { // of the future, too
					at = c.records * 7919 % len(c.values)
				}
				if c.garbage[at] {
					at = 0
				}
				key := strconv.AppendInt(nil, int64(c.records), 10)
				if c.options.windows {
					key = paymentKey(at)
				}
				rs = append(rs, ingest.Record{Time: c.began + int64(c.records), Key: key, Value: c.values[at]})
				c.records++
			}
			if err := p.Publish(context.WithoutCancel(ctx), c.toScore, i, rs); err != nil {
				return err
			}
		}
		pause(ctx, 100*time.Millisecond)
	}
	return nil
}

// checkScores runs one scorer to complete what the killed ones have left. Then
// each record must have a score, and all scores of a record by one model must
// be identical.
func (w *world) checkScores(ctx context.Context, s *Summary) error {
	if w.options.scorers == 0 {
		return nil
	}
	if _, err := w.accrete(ctx, "score", "-c", w.config("crash"), "--to-end"); err != nil {
		return err
	}
	scores := newPredictions(w.client, "")
	scores.topic = w.scores()
	copies := map[string]int{}
	var bad error
	scores.id = func(r *ingest.Record) string {
		var by struct{ Lineage string }
		value, err := w.asJSON(ctx, w.scores(), header(r, "content-type"), r.Value)
		if err := cmp.Or(err, json.Unmarshal(value, &by)); err != nil || by.Lineage == "" {
			bad = fmt.Errorf("a score %q of no model: %w", r.Value, err)
		}
		id := header(r, "ce_id")
		copies[id]++
		return id + " by " + by.Lineage + header(r, "ce_sequence")
	}
	if err := scores.catchUp(ctx); err != nil {
		return err
	}
	_, end, err := w.client.Offsets(ctx, w.toScore)
	if err != nil {
		return err
	}
	for p, n := range end {
		for i := range n {
			n := copies[fmt.Sprintf("%s-%d-%d", w.toScore, p, i)]
			if n == 0 {
				s.Unscored++
			}
			s.Rescored += max(0, n-1)
		}
	}
	s.ScoresTwice, s.ScoresDiffering = scores.duplicates, scores.differing
	switch {
	case bad != nil:
		return bad
	case s.Unscored+s.ScoresDiffering > 0:
		return fmt.Errorf("%d of %d records have no score, %d of %d scores that the same model made again are not the bytes of the first", s.Unscored, s.ToScore, s.ScoresDiffering, s.ScoresTwice)
	case s.ScorerKills >= 30 && s.ScoresTwice == 0: // a few kills may have no effect
		return fmt.Errorf("the same model has scored no record again over %d kills: too little to show anything", s.ScorerKills)
	}
	return nil
}
