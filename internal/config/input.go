package config

// Input defines which records are examples and how to read them.
type Input struct {
	// Topics to learn from. Each record is predicted before it is learned.
	Topics []string `key:"topics" required:"true" example:"payments.labelled" name:"topic"`

	// Format of the record values. A JSON value is a flat object such as
	// {"amount": 1, "is_fraud": true}, or has its columns in an object
	// {"features": {"amount": 1}, "is_fraud": true} or an array {"x": [1, 2], "y": 3}.
	// avro, protobuf: the encodings of Avro and of Protocol Buffers, whose schema is in
	// input.registry or in input.schema. json-schema: JSON that is preceded by the id of its
	// schema in a registry. cloudevents: JSON in the data of an event in structured mode.
	// vw: a line of Vowpal Wabbit. float32: a list of numbers of four bytes, of which
	// input.label is the index of the label. See docs/formats.md.
	Format string `key:"format" default:"json" oneof:"formats"`

	// File with a schema. With a registry, records are read as if they had been written with
	// it: names, aliases and defaults are those of this schema. Without one, it is the
	// schema of all records, which are not framed.
	Schema string `key:"schema" example:"payment.avsc"`

	// Schema registry with Confluent's HTTP interface. The records name their schemas: in
	// their first bytes, or in the header __value_schema_id.
	Registry Registry `key:"registry"`

	// Consumer group to which the learner commits its positions every 5 s, so that tools
	// for the lag of consumer groups see it (kafka-consumer-groups, kminion, Burrow,
	// KEDA). They are never read: the learner's own are in the model log. none: no group.
	Group string `key:"group" default:"accrete-<model>" name:"topic"`

	// Field that holds the label. A record without it is predicted only. A list of
	// fields, [x, y, z], is one regression with several targets: its prediction is
	// a list, and a record that lacks any of the fields is predicted only. With task
	// novelty it is not an input and is not learned, and may be left out.
	Label Label `key:"label" required:"true" example:"is_fraud"`

	// Labels that come later than the features they belong to, in the same topics or in
	// another one.
	Labels Labels `key:"labels"`

	// Field to use as the key of the prediction instead of the record's key.
	Key string `key:"key" example:"payment_id"`

	// Field that holds the weight of an example. Without it every weight is 1.
	Weight string `key:"weight" example:"weight"`

	// Field with the event time of a record for learner.half_life: a time, or seconds since
	// 1970. It is an input column unless it is declared as an id. Without it: the timestamp of
	// the record. With late labels it is that of input.labels.
	Time string `key:"time" example:"at"`

	// Input columns, or auto to take those of the first valid record. Also with their
	// types, as {amount: numeric, carrier: category, paid: boolean, at: time, note: ignored, row: id};
	// the type of others is that of their first value. "*" stands for all columns that are not
	// named, as in {shop_id: category, "*": auto}. Values inside objects and lists are
	// columns by their paths, as customer.city or features.0. Text is a category, or a time
	// if it looks like one, as 2006-01-02T15:04:05Z. The types text, numeric:normal,
	// category:decay=10000, time:trend and time:since have to be declared, and pairs of columns
	// as one category, such as {origin*carrier: pair}; see docs/columns.md.
	Columns Columns `key:"columns" default:"auto"`

	// Records in which a column is absent or null. impute: learn that it is missing, a
	// number as its mean and a category as one of its values. quarantine: send them
	// to <model>.quarantine. zero: read the column as 0.
	Missing string `key:"missing" default:"impute" oneof:"impute quarantine zero"`

	// Records with a column that the model does not have. quarantine: send them to
	// <model>.quarantine. ignore: drop the column.
	Unknown string `key:"unknown" default:"quarantine" oneof:"quarantine ignore"`

	// What to do when the columns of the records change: when a field appears that is no column
	// and is dropped (unknown: ignore), or a column has had no value for 1,000 records.
	// continue: report it, and learn without them. stop: pause after the batch with the
	// change, until accrete resume. adopt: a field becomes a column after 100 records with it,
	// also where the values of a column have another type now. The model goes on without it,
	// and a second one that has it takes over once it predicts better; see docs/columns.md.
	// Either way the change is in the model log. continue and stop may be exchanged at any
	// time; adopt is fixed for the life of a model.
	OnChange string `key:"on_change" default:"continue" oneof:"continue stop adopt"`

	// Columns that records have under another name now, as {column: field}: with the next
	// record the model reads the field as the column, and predicts as before. A record that has
	// the column itself is read as before. It may be changed at any time, also before the
	// records change, and takes effect when the learner is started: the model log has it for
	// each batch, and scorers have it from the learner's next snapshot. See docs/columns.md.
	Renames Renames `key:"renames" example:"{amount: total}"`

	// Statistics of the earlier records with the same key as additional inputs, with
	// half-lives in event time: count, sum, mean and deviation of a numeric field, the number
	// of distinct values of another field, and the time since the last record. Declare fields
	// that are not to be inputs themselves as id in input.columns. See docs/windows.md.
	Windows Windows `key:"windows" example:"{key: card, of: amount, over: [1h, 7d]}"`

	// Compacted topics used as lookup tables. The newest record of each key is a row, and its
	// fields become the columns TOPIC.FIELD of the records that have the key, null where there
	// is no row. as: another prefix than TOPIC. rows: the maximum number of rows, 100000 by
	// default; beyond it, the row that was set longest ago is evicted. See docs/tables.md.
	Tables Tables `key:"tables" example:"{topic: customers, key: customer_id, fields: [tier, country]}"`

	// For records of very many columns, such as words, of which most are absent or 0: a linear
	// model of all inputs, hashed by their names to a table of 2 to the power of this, beside
	// random features of a projection, from 8 to 24 bits; 0: every input is a column of its own.
	// input.columns may declare fields as text, ignored or id then. See docs/sparse.md.
	Sparse int `key:"sparse" default:"0" min:"0" max:"24" example:"18"`

	// Number of previous labelled records with the same key whose inputs and
	// labels become additional inputs, for autocorrelated labels. Only the learner
	// can predict with such a model, because a scorer does not see the labels.
	Lags int `key:"lags" default:"0" min:"0" max:"100"`

	// Records that retention deleted before they were learned. stop: exit with an
	// error. record: write a GAP to the model log and continue after them.
	OnGap string `key:"on_gap" default:"stop" oneof:"stop record"`

	// Maximum number of classes. Records with further labels go to quarantine.
	MaxClasses int `key:"max_classes" default:"256" min:"2" max:"65536"`

	// Order in which records of several partitions and topics are learned. arrival: as they are
	// read. time: by their timestamps, as far as records have arrived: within a batch, and from
	// batch to batch while there is a backlog. A partition that has more records holds up the
	// others, and one at its end does not. The records of one partition stay in their order. It is
	// fixed for the life of a model. Records with late labels (input.labels) are read by time
	// anyway.
	Order string `key:"order" default:"arrival" oneof:"arrival time"`

	// Batches of records, the unit of reading and writing. They bound latency and
	// do not influence what is learned.
	Batch Batch `key:"batch"`
}

// Labels describes labels that come later than the features they belong to.
type Labels struct {
	// How long after its features a label counts, for example 24h; see docs/late-labels.md. 0s:
	// records come with their labels, and the other options of this section have no effect.
	TTL Duration `key:"ttl" default:"0s" example:"24h" min:"0s" max:"8760h"`

	// Topic of the labels, JSON objects with a key and a label. Without it they are in
	// input.topics, in records that have a label and no input columns.
	Topic string `key:"topic" example:"payments.outcomes" name:"topic"`

	// Where records have the key by which labels and features are joined: a field or a path
	// such as order.id, or header:NAME. Without it: the field input.key, or the key of the
	// record. The field is not an input column unless it is declared as one.
	Key string `key:"key" example:"payment_id"`

	// Where records with labels have that key, if not in the same place.
	LabelKey string `key:"label_key" example:"id"`

	// Field that has the label in the topic of labels, if not input.label.
	Field string `key:"field" example:"outcome"`

	// Field that has the time of features and labels: a text such as 2006-01-02T15:04:05Z, or
	// seconds or milliseconds since 1970. Without it: the timestamp of the record.
	Time string `key:"time" example:"at"`

	// How far out of order records may be: features are given up that long after the TTL.
	Grace Duration `key:"grace" default:"1m" min:"0s" max:"168h"`

	// Maximum number of features that wait for their label. Beyond it, those whose time is over
	// first are dropped. As many labels wait for their features, and as many keys that have
	// their label are remembered.
	Pending int `key:"pending" default:"100000" min:"1" max:"10000000"`

	// What features without a label within the TTL are learned as: a class or a number, for
	// example false. drop: they are not learned.
	OnTimeout string `key:"on_timeout" default:"drop"`

	// Labels that go to <model>.quarantine instead of being ignored: late, duplicate,
	// contradicting. The first label of a key counts in any case.
	Quarantine []string `key:"quarantine" default:"contradicting"`
}

// Batch bounds one batch of records.
type Batch struct {
	// Maximum number of records in a batch.
	Size int `key:"size" default:"1000" min:"1" max:"100000"`

	// Maximum wait for more records after the first.
	Linger Duration `key:"linger" default:"5ms" min:"0s" max:"1m"`
}
