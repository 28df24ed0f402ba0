package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// committer publishes each publication in a transaction, together with a marker that holds its seq.
// The marker makes publishing exactly-once: a successor reads the newest marker and continues after
// it.
//
// The transactional id belongs to the model, so that a learner fences its predecessor when it
// begins. The claim in the model log remains decisive. Before a learner writes anything, begin
// reads the log, so that a learner that was replaced finds the newer claim. A learner that has
// already lost its claim may begin late, and so fence the present owner by mistake. The owner then
// begins again.
type committer struct {
	journal *journal.Journal
	client  *ingest.Client
	tx      *ingest.Transactor
	topic   string // topic of the markers
	report  func(event.Event)

	begun   bool
	done    int64 // seq of the newest marker
	markers int   // markers written since old ones were last deleted
}

// transactionLimit is the transaction timeout: if a learner has died and has no
// successor, the cluster aborts its transaction after this time. Until then
// read-committed readers get no records after it.
const transactionLimit = 30 * time.Second

func newCommitter(c model.Config, j *journal.Journal) *committer {
	m := &committer{
		journal: j, client: c.Client, tx: c.Client.Transactor("accrete-"+c.Model, transactionLimit),
		topic: model.ReleasedTopic(c.Model), report: c.Report,
	}
	m.tx.Retrying = func(err error) { m.report(event.Unpublished{Err: err}) }
	return m
}

// publish commits out in a transaction, unless it is committed already. It calls write to write the
// records of out.
func (c *committer) publish(ctx context.Context, out *history.Publication, write func(writer) error) error {
	for wait := new(ingest.Backoff); ; {
		err := c.try(ctx, out, write)
		if err == nil || ctx.Err() != nil || !errors.Is(err, ingest.ErrTransaction) && !ingest.Temporary(err) {
			return err
		}
		c.begun = false // the transaction may be committed or not; begin finds out
		c.report(event.Unpublished{Err: err})
		if err := wait.Pause(ctx, err); err != nil {
			return err
		}
	}
}

func (c *committer) try(ctx context.Context, out *history.Publication, write func(writer) error) error {
	if !c.begun {
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	if out.Seq <= c.done || len(out.Predictions)+len(out.Quarantined) == 0 {
		return nil
	}
	err := write(func(ctx context.Context, topic string, partition int, rs []ingest.Record) error {
		_, err := c.tx.Write(ctx, topic, partition, rs)
		return err
	})
	if err != nil {
		return err
	}
	value, err := json.Marshal(journal.Marker{Seq: out.Seq, Chain: out.Chain})
	if err != nil {
		return err
	}
	at, err := c.tx.Write(ctx, c.topic, 0, []ingest.Record{{Time: time.Now().UnixMilli(), Key: []byte("released"), Value: value}})
	if err != nil {
		return err
	}
	if err := c.tx.Commit(ctx); err != nil {
		return err
	}
	c.done = out.Seq
	c.trim(ctx, at)
	return nil
}

// trim deletes the markers before an offset, once in every 1,000 that are written.
func (c *committer) trim(ctx context.Context, before int64) {
	const often = 1000
	if c.markers++; c.markers < often || before < 0 {
		return
	}
	c.markers = 0
	if err := c.client.DeleteRecords(ctx, c.topic, 0, before); err != nil {
		c.report(event.Retrying{Err: fmt.Errorf("delete old transaction markers: %w", err)})
	}
}

// begin ends the open transaction of a predecessor, confirms that this learner still
// holds the claim, and reads the newest marker.
func (c *committer) begin(ctx context.Context) error {
	if err := c.tx.Begin(ctx); err != nil {
		return err
	}
	if err := c.journal.Confirm(ctx); err != nil && !planted.Fault("confirm") {
		return err
	}
	m, err := c.journal.NewestMarker(ctx)
	if err != nil {
		return err
	}
	if planted.Fault("marker") {
		m = journal.Marker{}
	}
	if !c.journal.Knows(m) { // another learner may have claimed the log since, and written the marker
		if err := c.journal.Confirm(ctx); err != nil {
			return err
		}
	}
	if !c.journal.Knows(m) {
		return fmt.Errorf("%w: topic %q has a marker of BATCH %d of another history: it belongs to an earlier model of this name: delete the topic", input.ErrHistory, c.topic, m.Seq)
	}
	c.done, c.begun = max(c.done, m.Seq), true
	return nil
}
