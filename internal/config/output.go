package config

// Output configures the delivery of predictions.
type Output struct {
	// Delivery guarantee. at-least-once: after a crash some predictions are written
	// again, byte-identical. transactional: a consumer with
	// isolation.level=read_committed sees each prediction exactly once, at a cost in
	// latency; needs permission for the transactional.id accrete-<model> and the
	// topic <model>.released.
	Delivery string `key:"delivery" default:"at-least-once" oneof:"at-least-once transactional"`

	// Format of the values of predictions, of learner and scorer alike. avro, protobuf: in
	// the encodings of Avro and of Protocol Buffers, behind the id of their schema, which is
	// registered under the subject <topic>-value (accrete contract prints it). May be changed
	// at any time.
	Format string `key:"format" default:"json" oneof:"json avro protobuf"`

	// Schema registry in which the schema of predictions is registered. Without a URL it is
	// that of input.registry.
	Registry Registry `key:"registry"`

	// Fields of an input record that its prediction has in the member input, such as
	// identifiers: members of the record, or paths as customer.id. They need not be columns;
	// declare those that are not inputs with type id in input.columns. May be changed at any time.
	Fields []string `key:"fields" example:"payment_id"`

	// Headers of an input record that its prediction has. all: all of them, except ce_*,
	// content-type and accrete.*, which predictions have themselves. trace: traceparent and
	// tracestate.
	Headers string `key:"headers" default:"all" oneof:"all trace"`

	// Fields of an input record that are left out wherever a record is written or displayed:
	// in the member input of predictions, and of invalid records in the quarantine topic, the
	// log, on the live page and in accrete tail. Members of the record, or paths as
	// customer.email. With :hash after it a field is replaced by its SHA-256. It does not
	// affect what is learned; docs/privacy.md has the limits. May be changed at any time.
	Redact []string `key:"redact" example:"customer.email, customer.id:hash"`

	// File with a secret of at least 16 bytes on its first line: the hashes of redact are then
	// HMAC-SHA-256, so that values cannot be guessed from them without it.
	RedactKey string `key:"redact_key_file" example:"/run/secrets/redact"`
}

// Quarantine configures the topic <model>.quarantine.
type Quarantine struct {
	// What the quarantine topic, the log and the live page show of an invalid record.
	// full: all of it, so that accrete quarantine can replay it. hash: the length and the
	// SHA-256 of key, value and headers. none: the length. The reason is then only what
	// could not be read, without quotations.
	Values string `key:"values" default:"full" oneof:"full hash none"`
}
