package contract

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// document holds the channels and operations of an AsyncAPI document.
type document struct{ channels, operations object }

// channel adds a topic with its messages.
func (d *document) channel(id, topic, description string, messages ...string) {
	has := object{}
	for _, m := range messages {
		has = has.with(m, reference("#/components/messages/"+m))
	}
	d.channels = d.channels.with(id, object{
		{"address", topic}, {"description", description}, {"messages", has},
		{"bindings", object{{"kafka", object{{"topic", topic}, {"bindingVersion", binding}}}}},
	})
}

// operation adds an action, send or receive, on messages of a channel.
func (d *document) operation(id, action, on, summary string, messages ...string) {
	var of []object
	for _, m := range messages {
		of = append(of, reference("#/channels/"+on+"/messages/"+m))
	}
	d.operations = d.operations.with(id, object{
		{"action", action}, {"channel", reference("#/channels/" + on)}, {"summary", summary}, {"messages", of},
	})
}

// reads adds the topics that the learner reads. Labels that arrive later than their examples are in
// the input topics, or in a topic of their own.
func (d *document) reads(c *config.Config) {
	l, both := c.Input.Labels, []string{"example"}
	if l.TTL > 0 && l.Topic == "" {
		both = append(both, "label")
	}
	for i, topic := range c.Input.Topics {
		id := fmt.Sprintf("input%d", i)
		d.channel(id, topic, "Examples: records that are predicted, and learned if they have a label.", both...)
		d.operation(fmt.Sprintf("learn%d", i), "receive", id, "The learner reads examples.", both...)
	}
	if l.TTL > 0 && l.Topic != "" {
		d.channel("labels", l.Topic, fmt.Sprintf("Labels of examples, up to %v after them.", l.TTL), "label")
		d.operation("join", "receive", "labels", "The learner joins labels with the examples that they belong to.", "label")
	}
}

// enriches adds the topics of the tables that enrich records.
func (d *document) enriches(c *config.Config) {
	for i, t := range c.Input.Tables.Of() {
		id := fmt.Sprintf("table%d", i)
		d.channel(id, t.Topic, "Rows that records are enriched with: the newest record of each key.", id)
		d.operation(fmt.Sprintf("enrich%d", i), "receive", id, "Learner and scorers read rows.", id)
	}
}

// rowMessage returns the message for records in the topic of a table.
func rowMessage(name string, t *decode.Table) object {
	root := &node{}
	for _, field := range t.Fields {
		root.at(field).schema = described(typed("string", "number", "boolean", "null"), "Column "+t.Name()+"."+field+".")
	}
	o := root.object(true)
	o[0].value = []string{"object", "null"}
	o = append(object{{"$schema", dialect}, {"title", "Row of " + t.Topic}, {"description", "A record without a value deletes the row of its key."}}, o...)
	return object{
		{"name", name}, {"title", "Row"}, {"contentType", "application/json"},
		{"bindings", object{{"kafka", object{{"key", described(typed("string"), "Found by the field "+t.Key+" of records.")}, {"bindingVersion", binding}}}}},
		{"payload", jsonSchema(o)},
	}
}

// writes adds the topics that learner and scorers write, and those that scorers read.
func (d *document) writes(c *config.Config) {
	d.channel("predictions", model.PredictionsTopic(c.Model), "Predictions of the learner, one for each valid record.", "prediction")
	d.operation("predict", "send", "predictions", "The learner writes a prediction for each valid record before it learns from it.", "prediction")
	if len(c.Score.Topics) > 0 {
		for i, topic := range c.Score.Topics {
			id := fmt.Sprintf("unlabelled%d", i)
			d.channel(id, topic, "Records that are predicted by scorers.", "example")
			d.operation(fmt.Sprintf("read%d", i), "receive", id, "Scorers read records.", "example")
		}
		d.channel("scores", c.Score.Output, "Predictions of scorers.", "prediction")
		d.operation("score", "send", "scores", "Scorers write a prediction for each valid record.", "prediction")
		if topic := c.Score.CanaryOutput; topic != "" {
			d.channel("shadow", topic, "Predictions of "+c.Score.Canary+" for a share of the keys, beside those of the model.", "prediction")
			d.operation("scoreBeside", "send", "shadow", "Scorers write a prediction of the second model for each valid record of the share.", "prediction")
		}
	}
	if topic := c.Requests.Topic; topic != "" {
		on := "requests"
		if i := slices.Index(c.Input.Topics, topic); i >= 0 { // an input topic, which has a channel already
			on = fmt.Sprintf("input%d", i)
		} else {
			d.channel(on, topic, "Rows that were predicted over HTTP.", "example")
		}
		d.operation("request", "send", on, "Scorers write each row that is predicted over HTTP before they answer.", "example")
	}
	d.channel("quarantine", model.QuarantineTopic(c.Model), "Records that could not be used, with the reason in headers.", "invalid")
	d.operation("quarantine", "send", "quarantine", "Learner and scorers copy each invalid record, with the reason.", "invalid")
}
