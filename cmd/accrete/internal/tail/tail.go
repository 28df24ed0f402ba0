// Package tail is the command that shows the predictions of a topic as they are written.
package tail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// Command is accrete tail.
type Command struct {
	env.ConfigFlags
	env.JSONFlag
	Topic string `placeholder:"TOPIC" help:"Topic of predictions (default: <model>.predictions, those of the learner)."`
	Last  int64  `default:"10" help:"Number of offsets of each partition to begin with, before the end (${default})."`
	ToEnd bool   `name:"to-end" help:"Stop at the end offsets that the topic has at startup."`
}

func (Command) Help() string {
	return `Shows the predictions of a model as a table, a line for each as it is written, until it is interrupted: the time and the key of the record, the prediction with its probability or, for novelty, its score, the label and the loss if the record had a label, and the step of the model. Predictions of one partition are in order. It reads committed records only and writes nothing.

With --json each line has the place of the prediction, its time, its key and its value, as JSON also where the topic has Avro or Protocol Buffers, and without the fields of output.redact.`
}

func (Command) Examples() string {
	return `
accrete tail -c accrete.yaml
accrete tail -c accrete.yaml --topic fraud.scores
accrete tail -c accrete.yaml --last 1000 --to-end --json`
}

// Validate rejects a negative number. Kong calls it.
func (c *Command) Validate() error {
	if c.Last < 0 {
		return fmt.Errorf("--last is %d: want 0 or more", c.Last)
	}
	return nil
}

func (c *Command) Run(ctx context.Context, e *env.Env) error {
	options, client, err := c.Open(e)
	if err != nil {
		return err
	}
	defer client.Close()
	topic := cmp.Or(c.Topic, model.PredictionsTopic(options.Model))
	if _, err := client.Topic(ctx, topic); err != nil {
		return err
	}
	var first, end []int64
	err = ingest.Retry(ctx, e.WarnOfRetry, func() (err error) {
		first, end, err = client.Offsets(ctx, topic)
		return err
	})
	if err != nil {
		return err
	}
	redact, err := setup.Redaction(options)
	if err != nil {
		return err
	}
	out := &table{e: e, asJSON: c.JSON, redact: redact}
	if err := out.header(); err != nil {
		return err
	}
	g, follow := errgroup.WithContext(ctx)
	var mu sync.Mutex // one line at a time
	for p := range end {
		g.Go(func() error {
			return c.follow(follow, e, client.Fetcher(topic, p), max(first[p], end[p]-c.Last), end[p], func(r *ingest.Record) error {
				mu.Lock()
				defer mu.Unlock()
				return out.line(topic, p, r)
			})
		})
	}
	if err := g.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	if c.ToEnd {
		return ctx.Err()
	}
	return nil
}

// follow calls print with the records of a partition from the offset from on. With --to-end it
// stops at the offset end.
func (c *Command) follow(ctx context.Context, e *env.Env, f *ingest.Fetcher, from, end int64, print func(*ingest.Record) error) error {
	for !c.ToEnd || from < end {
		var got ingest.Fetched
		err := ingest.Retry(ctx, e.WarnOfRetry, func() (err error) {
			got, err = f.Poll(ctx, from)
			return err
		})
		var gap *ingest.GapError
		if errors.As(err, &gap) {
			e.Log.Warn().Int64("from", from).Int64("to", gap.LogStart).Msg("predictions were deleted before they were shown")
			from = gap.LogStart
			continue
		}
		if err != nil {
			return err
		}
		for i := range got.Records {
			if r := &got.Records[i]; !c.ToEnd || r.Offset < end {
				if err := print(r); err != nil {
					return err
				}
			}
		}
		from = got.Next
	}
	return nil
}
