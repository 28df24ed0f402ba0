package contract

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// binding is the version of the bindings for Kafka.
const binding = "0.5.0"

// asyncAPI returns the AsyncAPI 3.0 document of a model: what it reads, and what it writes.
func asyncAPI(c *config.Config, m *predictions, in object) object {
	channels := object{}
	operations := object{}
	channel := func(id, topic, message, description string) {
		channels = channels.with(id, object{
			{"address", topic}, {"description", description},
			{"messages", object{{message, reference("#/components/messages/" + message)}}},
			{"bindings", object{{"kafka", object{{"topic", topic}, {"bindingVersion", binding}}}}},
		})
	}
	operation := func(id, action, on, message, summary string) {
		operations = operations.with(id, object{
			{"action", action}, {"channel", reference("#/channels/" + on)}, {"summary", summary},
			{"messages", []object{reference("#/channels/" + on + "/messages/" + message)}},
		})
	}
	for i, topic := range c.Input.Topics {
		id := fmt.Sprintf("input%d", i)
		channel(id, topic, "example", "Examples: records that are predicted, and learned if they have a label.")
		operation("learn"+strings.TrimPrefix(id, "input"), "receive", id, "example", "The learner reads examples.")
	}
	channel("predictions", model.PredictionsTopic(c.Model), "prediction", "Predictions of the learner, one for each valid record.")
	operation("predict", "send", "predictions", "prediction", "The learner writes a prediction for each valid record before it learns from it.")
	if len(c.Score.Topics) > 0 {
		for i, topic := range c.Score.Topics {
			id := fmt.Sprintf("unlabelled%d", i)
			channel(id, topic, "example", "Records that are predicted by scorers.")
			operation(fmt.Sprintf("read%d", i), "receive", id, "example", "Scorers read records.")
		}
		channel("scores", c.Score.Output, "prediction", "Predictions of scorers.")
		operation("score", "send", "scores", "prediction", "Scorers write a prediction for each valid record.")
		if topic := c.Score.CanaryOutput; topic != "" {
			channel("shadow", topic, "prediction", "Predictions of "+c.Score.Canary+" for a share of the keys, beside those of the model.")
			operation("scoreBeside", "send", "shadow", "prediction", "Scorers write a prediction of the second model for each valid record of the share.")
		}
	}
	channel("quarantine", model.QuarantineTopic(c.Model), "invalid", "Records that could not be used, with the reason in headers.")
	operation("quarantine", "send", "quarantine", "invalid", "Learner and scorers copy each invalid record, with the reason.")
	return object{
		{"asyncapi", "3.0.0"},
		{"info", object{
			{"title", "Predictions of " + c.Model}, {"version", "1"},
			{"description", "What the model reads from Kafka, and what it writes."},
		}},
		{"servers", servers(c)},
		{"defaultContentType", "application/json"},
		{"channels", channels},
		{"operations", operations},
		{"components", object{{"messages", object{
			{"example", exampleMessage(c, in)},
			{"prediction", predictionMessage(c, m)},
			{"invalid", object{
				{"name", "invalid"}, {"title", "Invalid record"},
				{"headers", object{{"type", "object"}, {"properties", object{
					{"__connect.errors.topic", typed("string")}, {"__connect.errors.partition", typed("string")},
					{"__connect.errors.offset", typed("string")}, {"__connect.errors.stage", typed("string")},
					{"__connect.errors.exception.message", described(typed("string"), "The reason.")},
				}}}},
				{"payload", object{{"description", "The value of the record as it was, or what quarantine.values and output.redact leave of it."}}},
			}},
		}}}},
	}
}

func reference(to string) object { return object{{"$ref", to}} }

func servers(c *config.Config) object {
	protocol := "kafka"
	if strings.HasSuffix(c.Kafka.Protocol, "SSL") {
		protocol = "kafka-secure"
	}
	all := object{}
	for i, host := range c.Kafka.Servers {
		s := object{{"host", host}, {"protocol", protocol}}
		if urls := c.OutputRegistry().URLs; len(urls) > 0 {
			s = s.with("bindings", object{{"kafka", object{{"schemaRegistryUrl", urls[0]}, {"schemaRegistryVendor", "confluent"}, {"bindingVersion", binding}}}})
		}
		all = all.with(fmt.Sprintf("broker%d", i), s)
	}
	return all
}

// framed returns the Kafka binding of messages that begin with the id of a schema in a registry.
func framed() object {
	return object{{"kafka", object{
		{"schemaIdLocation", "payload"}, {"schemaIdPayloadEncoding", "confluent"},
		{"schemaLookupStrategy", "TopicNameStrategy"}, {"bindingVersion", binding},
	}}}
}

// jsonSchema is a payload with a schema of its own dialect.
func jsonSchema(schema object) object {
	return object{{"schemaFormat", "application/schema+json;version=draft-2020-12"}, {"schema", schema}}
}

func exampleMessage(c *config.Config, in object) object {
	o := object{{"name", "example"}, {"title", "Example"}}
	if in != nil {
		return append(o, object{{"contentType", "application/json"}, {"payload", jsonSchema(in)}}...)
	}
	o = append(o, object{{"contentType", "application/octet-stream"}, {"payload", object{{"description", "A record in the format " + c.Input.Format + "."}}}}...)
	if !c.Input.Registry.Of().Empty() {
		o = o.with("bindings", framed())
	}
	return o
}

func predictionMessage(c *config.Config, m *predictions) object {
	o := object{
		{"name", "prediction"}, {"title", "Prediction"}, {"contentType", contentType(c.Output.Format)},
		{"headers", m.headers(c.Output.Format)},
		{"correlationId", object{{"location", "$message.header#/ce_id"}, {"description", "The input record."}}},
	}
	typ, text := record.Schema(c.Output.Format)
	switch typ {
	case "AVRO":
		return append(o, object{{"payload", object{{"schemaFormat", "application/vnd.apache.avro+json;version=1.9.0"}, {"schema", raw(text)}}}, {"bindings", framed()}}...)
	case "PROTOBUF":
		return append(o, object{{"payload", object{{"schemaFormat", "application/vnd.google.protobuf;version=3"}, {"schema", text}}}, {"bindings", framed()}}...)
	}
	return o.with("payload", jsonSchema(m.prediction()))
}
