// Package quarantine has the commands that list, show and replay the records in quarantine.
package quarantine

import (
	"cmp"
	"context"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/quarantine"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// Command is the group of commands accrete quarantine.
type Command struct {
	List   List   `cmd:"" help:"Count the records in quarantine by reason."`
	Show   Show   `cmd:"" help:"Print one record in quarantine."`
	Replay Replay `cmd:"" help:"Send records in quarantine back to their input topics, each exactly once."`
}

func (Command) Examples() string {
	return `
accrete quarantine list -c accrete.yaml
accrete quarantine replay -c accrete.yaml --dry-run`
}

// selection holds the flags that select records of a quarantine topic.
type selection struct {
	env.ConfigFlags
	env.JSONFlag
	Topic  string `placeholder:"TOPIC" help:"Quarantine topic (default: <model>.quarantine)."`
	Reason string `placeholder:"TEXT" help:"Only records whose reason contains this text."`
}

// open loads the configuration and returns a client and the name of the topic.
func (q *selection) open(e *env.Env) (*config.Config, *ingest.Client, string, error) {
	c, client, err := q.ConfigFlags.Open(e)
	if err != nil {
		return nil, nil, "", err
	}
	return c, client, cmp.Or(q.Topic, model.QuarantineTopic(c.Model)), nil
}

func (q *selection) selects(e *quarantine.Entry) bool {
	return strings.Contains(e.Reason, q.Reason)
}

// none says that the topic has no record that is selected.
func (q *selection) none(topic string) string {
	if q.Reason == "" {
		return topic + " has no records"
	}
	return topic + " has no records with such a reason"
}

// each calls f for every selected record of the quarantine topic, in order. It returns the
// name of the topic, and the number of its records that no learner or scorer has written.
func (q *selection) each(ctx context.Context, e *env.Env, f func(*quarantine.Entry)) (topic string, foreign int64, err error) {
	_, client, topic, err := q.open(e)
	if err != nil {
		return "", 0, err
	}
	defer client.Close()
	t, err := quarantine.Read(ctx, client, topic, false, e.WarnOfRetry)
	if err != nil {
		return topic, 0, err
	}
	foreign, err = t.Each(ctx, func(x *quarantine.Entry) error {
		if q.selects(x) {
			f(x)
		}
		return nil
	})
	return topic, foreign, err
}
