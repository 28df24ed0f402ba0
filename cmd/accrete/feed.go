package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/encode"
	"github.com/accrete-ml/accrete/internal/config"
)

type feedCommand struct {
	env.ConfigFlags
	env.JSONFlag
	File       string  `arg:"" optional:"" help:"CSV file with a header, LIBSVM, Vowpal Wabbit, .npy, JSON lines, plain or .gz, Parquet or Avro; - for standard input."`
	Demo       bool    `help:"Write the endless stream of accrete demo instead of a file."`
	Unlabelled bool    `help:"Write rows without their labels, to be predicted only. The file needs no label column."`
	Topic      string  `placeholder:"NAME" help:"Topic to write to (default: the first of input.topics)."`
	Partitions int     `default:"1" help:"Number of partitions if the topic has to be created (${default})."`
	Rate       float64 `placeholder:"N" help:"Maximum number of records per second; 0: as fast as possible."`
	SkipBad    bool    `name:"skip-bad" help:"Count unreadable rows, by reason with the first line of each, and continue, instead of stopping at the first."`
}

func (feedCommand) Help() string {
	return `Writes the rows of a file to an input topic as records of input.format that the same configuration reads: {"features":{…},"label":…} in JSON. Rows are distributed round-robin over the partitions, with the row number as key. Numbers are copied verbatim.`
}

func (feedCommand) Examples() string {
	return `
accrete feed train.csv.gz -c accrete.yaml
accrete feed requests.csv -c accrete.yaml --topic payments --unlabelled
accrete feed -c accrete.yaml --demo --rate 1000
accrete feed -c accrete.yaml --demo --rate 100 --topic payments --unlabelled`
}

// feedReport counts what was written.
type feedReport struct {
	Topic   string `json:"topic"`
	Records int64  `json:"records"`
	Skipped int64  `json:"skipped"` // rows that cannot be converted to a record

	Reasons []files.Reason `json:"skipped_reasons,omitempty"`
	skipped files.Skipped

	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"records_per_second"`
}

// Validate rejects numbers out of range and a topic name that Kafka does not accept. Kong calls it.
func (f *feedCommand) Validate() error {
	switch {
	case f.Partitions < 1:
		return fmt.Errorf("--partitions is %d: want 1 or more", f.Partitions)
	case f.Rate < 0:
		return fmt.Errorf("--rate is %v: want more than 0, or 0 for as fast as possible", f.Rate)
	}
	if f.Topic == "" {
		return nil
	}
	if err := checkTopic(f.Topic); err != nil {
		return fmt.Errorf("--topic: %w", err)
	}
	return nil
}

func (f *feedCommand) Run(ctx context.Context, e *env.Env) error {
	c, client, err := f.Open(e, "input.topics", "input.label")
	if err != nil {
		return err
	}
	defer client.Close()
	if f.Topic != "" && c.Writes(f.Topic) {
		return exit.Usage("--topic %s: it is written by the model, which rows of a file would damage", f.Topic)
	}
	if f.Unlabelled && f.labels(c) {
		return exit.Usage("--unlabelled: %s is the topic of the labels (input.labels.topic): omit the flag", f.Topic)
	}
	rows, err := f.rows(ctx, e, c)
	if err != nil {
		return err
	}
	defer rows.Close()
	w, err := f.writer(ctx, c)
	if err != nil {
		return err
	}
	r := feedReport{Topic: f.Topic}
	if r.Topic == "" {
		r.Topic = c.Input.Topics[0]
	}
	if err := client.Create(ctx, r.Topic, f.Partitions, nil); err != nil {
		return err
	}
	topic, err := client.Topic(ctx, r.Topic)
	if err != nil {
		return err
	}
	out := &feeder{writer: w, producer: client.Producer(), topic: r.Topic, waiting: make([][]ingest.Record, topic.Partitions)}
	out.producer.Retrying = e.WarnOfRetry
	start := time.Now()
	if err := f.copyRows(ctx, e, rows, out, &r); err != nil {
		return err
	}
	r.Skipped, r.Reasons = r.skipped.Total(), r.skipped.Reasons()
	r.Seconds = time.Since(start).Seconds()
	r.PerSecond = float64(r.Records) / max(r.Seconds, 1e-9)
	text := fmt.Sprintf("%s to %s in %.1f s", display.Count(r.Records, "record"), r.Topic, r.Seconds)
	if r.Skipped > 0 {
		text += fmt.Sprintf(", %s skipped", display.Count(r.Skipped, "row"))
	}
	for _, reason := range r.Reasons {
		text += fmt.Sprintf("\nskipped: %v", reason)
	}
	return e.Print(f.JSON, text, r)
}

// writer returns the writer of records of the input topics.
func (f *feedCommand) writer(ctx context.Context, c *config.Config) (encode.Writer, error) {
	d, err := setup.Decode(c)
	if err != nil {
		return nil, err
	}
	client, err := setup.Registry(c)
	if err != nil {
		return nil, err
	}
	format := c.Input.Format
	if f.labels(c) {
		format = "json"
	}
	return encode.WithSchema(ctx, format, d.Reader, roles(c, f.labels(c)), client, cmp.Or(f.Topic, c.Input.Topics[0])+"-value")
}

// roles returns the names of the fields in the records that are written for rows. If labels is set,
// a record holds nothing but the label.
func roles(c *config.Config, labels bool) encode.Roles {
	if field := c.Input.Labels.Field; labels && field != "" {
		return encode.Roles{Labels: []string{field}}
	}
	r := encode.Roles{Labels: c.Input.Label, Several: len(c.Input.Label) > 1, Weight: c.Input.Weight, Key: c.Input.Key}
	if len(r.Labels) == 0 { // novelty detection, which needs no label
		r.Labels = []string{"label", "y"}
	}
	return r
}

// copyRows writes rows to out until they end or ctx is done, and counts them in
// r.
func (f *feedCommand) copyRows(ctx context.Context, e *env.Env, rows rows, out *feeder, r *feedReport) error {
	start, progress, at := time.Now(), e.Progress(false), pace{rate: f.Rate}
	last := start
	for ctx.Err() == nil {
		value, err := rows.next()
		if err == io.EOF || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			break
		}
		if f.skip(e, err, r) {
			continue
		}
		if err != nil {
			if late := out.flush(ctx); late != nil {
				return errors.Join(err, late)
			}
			return fmt.Errorf("after %s: %w", display.Count(r.Records, "record"), files.Skippable(err, false))
		}
		record, err := out.record(value, r.Records)
		if errors.Is(err, encode.ErrUnregistered) {
			return err
		}
		if file, is := rows.(fileRows); is && err != nil && f.skip(e, file.unwritten(err), r) {
			continue
		}
		if err != nil {
			return fmt.Errorf("after %s: %w; correct the file, or skip such rows with --skip-bad", display.Count(r.Records, "record"), err)
		}
		if err := out.add(ctx, record, r.Records); err != nil {
			return err
		}
		r.Records++
		if err := at.throttle(ctx, out); err != nil {
			return err
		}
		if time.Since(last) > time.Second {
			last = time.Now()
			took := time.Since(start)
			progress.Update(fmt.Sprintf("%s records, %s/s%s", display.Thousands(r.Records), display.Thousands(int64(float64(r.Records)/took.Seconds())), display.Left(took, rows.share())), nil)
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := out.flush(ending); err != nil {
		return err
	}
	progress.Done()
	return nil
}

// skip counts the row that err describes and reports whether it did. It does so only with
// --skip-bad, and only if err is about a single row.
func (f *feedCommand) skip(e *env.Env, err error, r *feedReport) bool {
	if err == nil || !f.SkipBad || !r.skipped.Add(err) {
		return false
	}
	if r.skipped.Total() <= 3 {
		e.Log.Warn().Err(err).Msg("skipped")
	}
	return true
}

// pace says when records are due that are to come at a rate.
type pace struct {
	rate float64 // records per second; 0: as fast as possible
	due  time.Time
}

// mostBehind is the time up to which a pace catches up with what it has missed. Otherwise records that
// had to wait for a broker would come all at once.
const mostBehind = time.Second

// next returns how long after now the next record is due.
func (p *pace) next(now time.Time) time.Duration {
	if p.rate <= 0 {
		return 0
	}
	if p.due.IsZero() || now.Sub(p.due) > mostBehind {
		p.due = now
	}
	p.due = p.due.Add(time.Duration(float64(time.Second) / p.rate))
	return p.due.Sub(now)
}

// throttle waits until another record may be written.
func (p *pace) throttle(ctx context.Context, out *feeder) error {
	early := p.next(time.Now())
	if early <= 20*time.Millisecond {
		return nil
	}
	if err := out.flush(ctx); err != nil {
		return err
	}
	sleep(ctx, early)
	return nil
}

// feeder batches records per partition of a topic.
type feeder struct {
	writer   encode.Writer
	producer *ingest.Producer
	topic    string
	waiting  [][]ingest.Record // by partition
	n        int
}

const feedAtOnce = 2000 // records per batch

// record returns the record of an example.
func (f *feeder) record(example []byte, number int64) (r ingest.Record, err error) {
	r = ingest.Record{Time: time.Now().UnixMilli(), Key: strconv.AppendInt(nil, number, 10)}
	r.Value, r.Headers, err = f.writer.Write(example)
	return r, err
}

func (f *feeder) add(ctx context.Context, r ingest.Record, number int64) error {
	p := number % int64(len(f.waiting))
	f.waiting[p] = append(f.waiting[p], r)
	if f.n++; f.n == feedAtOnce {
		return f.flush(ctx)
	}
	return nil
}

func (f *feeder) flush(ctx context.Context) error {
	for p, rs := range f.waiting {
		if len(rs) == 0 {
			continue
		}
		if err := f.producer.Publish(ctx, f.topic, p, rs); err != nil {
			return err
		}
		f.waiting[p] = rs[:0]
	}
	f.n = 0
	return nil
}

// sleep waits for d and returns false if ctx was done first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
