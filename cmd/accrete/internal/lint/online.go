package lint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// Finding is the result of one check of lint --online.
type Finding struct {
	Status string `json:"status"` // ok, warning or problem
	Text   string `json:"text"`
}

// cluster checks the topics of a configuration on its cluster.
type cluster struct {
	e        *env.Env // nil: findings are not printed
	asJSON   bool
	c        *config.Config
	client   *ingest.Client
	problems int
	findings []Finding
}

// CheckTopics checks the topics of a configuration on its cluster. What is wrong with a topic is a
// finding; an error means that the cluster cannot be reached, or that ctx has ended.
func CheckTopics(ctx context.Context, c *config.Config, client *ingest.Client) ([]Finding, error) {
	o := cluster{c: c, client: client}
	err := o.topics(ctx)
	return o.findings, err
}

func (o *cluster) say(status, format string, args ...any) error {
	f := Finding{status, fmt.Sprintf(format, args...)}
	if slices.Contains(o.findings, f) { // what is wrong with the connection is found for each topic
		return nil
	}
	if status == "problem" {
		o.problems++
	}
	o.findings = append(o.findings, f)
	if o.e == nil {
		return nil
	}
	return o.e.Print(o.asJSON, fmt.Sprintf("%-8s %s", f.Status, f.Text), map[string]Finding{"check": f})
}

// problem reports err as a problem. It returns err instead if the cluster cannot be reached, or if
// ctx has ended.
func (o *cluster) problem(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, ingest.ErrUnreachable) {
		return err
	}
	return o.say("problem", "%v", err)
}

// topics checks the schema registry and all topics of the model.
func (o *cluster) topics(ctx context.Context) error {
	if !o.c.Input.Registry.Of().Empty() || !o.c.Output.Registry.Of().Empty() {
		status, text := "ok", "the schema registry answers"
		if err := setup.CheckRegistry(ctx, o.c); err != nil {
			status, text = "problem", err.Error()
		}
		if err := o.say(status, "%s", text); err != nil {
			return err
		}
	}
	for _, name := range o.c.Input.LearnedTopics() {
		if err := o.input(ctx, "input topic", "learner", name); err != nil {
			return err
		}
	}
	for _, name := range o.c.Score.Topics {
		if err := o.input(ctx, "scored topic", "scorer", name); err != nil {
			return err
		}
	}
	for _, t := range o.c.Input.Tables.Of() {
		if err := o.table(ctx, &t); err != nil {
			return err
		}
	}
	outputs := []string{model.PredictionsTopic(o.c.Model), model.QuarantineTopic(o.c.Model)}
	if len(o.c.Score.Topics) > 0 {
		outputs = append(outputs, o.c.Score.Output)
		if o.c.Score.CanaryOutput != "" {
			outputs = append(outputs, o.c.Score.CanaryOutput)
		}
	}
	if o.c.Requests.Topic != "" {
		outputs = append(outputs, o.c.Requests.Topic)
	}
	if o.c.Output.Delivery == "transactional" {
		outputs = append(outputs, model.ReleasedTopic(o.c.Model))
	}
	for _, name := range append([]string{model.LogTopic(o.c.Model)}, outputs...) {
		if err := o.output(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// model checks that a model that exists would be continued with this configuration.
func (o *cluster) model(ctx context.Context) error {
	c, err := setup.Pipeline(o.c, o.client, nil)
	if err != nil {
		return o.problem(ctx, err)
	}
	if err := pipeline.Accepts(ctx, c); err != nil {
		return o.problem(ctx, err)
	}
	return nil
}

// created reports whether err is that an input does not exist yet, and will be created because it has
// the requests for predictions.
func (o *cluster) created(topic string, err error) bool {
	return topic == o.c.Requests.Topic && errors.Is(err, ingest.ErrUnknownTopic)
}

// input checks a topic that is read. kind is what the topic is called, and reader the process that
// reads it.
func (o *cluster) input(ctx context.Context, kind, reader, name string) error {
	t, err := o.client.Topic(ctx, name)
	if o.created(name, err) {
		return nil // which is said of a topic that is written
	}
	if err != nil {
		return o.problem(ctx, err)
	}
	if t.Hidden != nil {
		return o.problem(ctx, t.Hidden)
	}
	if strings.Contains(t.CleanupPolicy, "compact") {
		return o.say("problem", "%s %s is compacted (cleanup.policy=%s): a %s needs cleanup.policy=delete", kind, name, t.CleanupPolicy, reader)
	}
	may, err := o.client.Allowed(ctx, name)
	if err != nil {
		return o.problem(ctx, err)
	}
	if may.Known && !may.Read {
		return o.say("problem", "reading %s %s is denied: grant it with kafka-acls --add --operation Read --topic %s", kind, name, name)
	}
	first, end, err := o.client.Offsets(ctx, name)
	if err != nil {
		return o.problem(ctx, err)
	}
	records := int64(0)
	for p := range end {
		records += end[p] - first[p]
	}
	status, note := "ok", ""
	if t.RetentionMs > 0 && t.RetentionMs < dayMs {
		status, note = "warning", fmt.Sprintf(": a %s that stops for longer loses records", reader)
	}
	return o.say(status, "%s %s: %s, %s offsets, retention %s%s", kind, name, display.Count(int64(t.Partitions), "partition"), display.Thousands(records), retention(t.RetentionMs), note)
}

// output checks a topic that is written, and created if it is missing.
func (o *cluster) output(ctx context.Context, name string) error {
	t, err := o.client.Topic(ctx, name)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return o.say("ok", "topic %s does not exist yet and will be created", name)
	}
	if err != nil {
		return o.problem(ctx, err)
	}
	may, err := o.client.Allowed(ctx, name)
	if err != nil {
		return o.problem(ctx, err)
	}
	if may.Known && !may.Write {
		return o.say("problem", "writing topic %s is denied: grant it with kafka-acls --add --operation Write --topic %s", name, name)
	}
	if name == model.LogTopic(o.c.Model) {
		return o.log(ctx, t)
	}
	if t.MaxMessageBytes < record.MinMessageBytes {
		return o.say("problem", "topic %s accepts records of %d bytes at most: set max.message.bytes to at least %d", name, t.MaxMessageBytes, record.MinMessageBytes)
	}
	return o.say("ok", "topic %s: %s, retention %s", name, display.Count(int64(t.Partitions), "partition"), retention(t.RetentionMs))
}

// chunkOverhead is the maximum number of bytes that a record of the model log has in addition to a
// chunk of a snapshot.
const chunkOverhead = 4 << 10

// log checks that the model log accepts its records and keeps them.
func (o *cluster) log(ctx context.Context, t ingest.Topic) error {
	if t.Hidden != nil {
		return o.problem(ctx, t.Hidden)
	}
	if err := kafkalog.Retains(ctx, o.client, t.Name); err != nil {
		return o.problem(ctx, err)
	}
	if least := int(o.c.Snapshot.Chunk) + chunkOverhead; t.MaxMessageBytes < least {
		return o.say("problem", "model log %s may not accept snapshots: set max.message.bytes to at least %d (it is %d), or reduce snapshot.chunk (%v)", t.Name, least, t.MaxMessageBytes, o.c.Snapshot.Chunk)
	}
	return o.say("ok", "model log %s: retention unlimited", t.Name)
}

// dayMs is a day in milliseconds.
const dayMs = 24 * 60 * 60 * 1000

// retention formats retention.ms, which may be too long for a time.Duration.
func retention(ms int64) string {
	switch {
	case ms < 0:
		return "unlimited"
	case ms == 0:
		return "unknown"
	case ms%dayMs == 0 || ms > 1000*dayMs:
		return strconv.FormatInt(ms/dayMs, 10) + " d"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}
