package contract

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
)

// binding is the version of AsyncAPI's bindings for Kafka.
const binding = "0.5.0"

// asyncAPI returns the AsyncAPI 3.0 document of a model: what it reads, and what it writes.
func asyncAPI(c *config.Config, m *predictions, in object) object {
	d := new(document)
	d.reads(c)
	d.enriches(c)
	d.writes(c)
	return object{
		{"asyncapi", "3.0.0"},
		{"info", object{
			{"title", "Predictions of " + c.Model}, {"version", "1"},
			{"description", "What the model reads from Kafka, and what it writes."},
		}},
		{"servers", servers(c)},
		{"defaultContentType", "application/json"},
		{"channels", d.channels},
		{"operations", d.operations},
		{"components", object{{"messages", messages(c, m, in)}}},
	}
}

// messages returns the messages of all channels.
func messages(c *config.Config, m *predictions, in object) object {
	all := object{{"example", exampleMessage(c, in)}}
	if c.Input.Labels.TTL > 0 {
		all = all.with("label", labelMessage(c))
	}
	for i, t := range c.Input.Tables.Of() {
		name := fmt.Sprintf("table%d", i)
		all = all.with(name, rowMessage(name, &t))
	}
	return append(all, object{
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
	}...)
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

// jsonSchema returns a payload that is described by a JSON Schema.
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
