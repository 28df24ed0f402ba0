// Package config is the configuration of Accrete: one strict YAML file, with
// the environment and flags over it.
//
// Config is the only place where an option is written down. Its keys, its
// environment variables, its defaults, its bounds and the printed reference
// (accrete lint --reference) are all read from the fields and the comments
// below:
//
//	key      the option's name in the file, after the sections it is in
//	default  its value where nobody gives one
//	example  what the reference shows where there is no default
//	required without it nothing works
//	oneof    the values that this build knows
//	min, max bounds, both allowed
//	name     the value is a Kafka topic name, or part of one
package config

// Config is the effective configuration. Load fills and checks it.
type Config struct {
	// The model. It names the topics <model>.log, <model>.predictions and
	// <model>.quarantine.
	Model string `key:"model" required:"true" example:"fraud" name:"topic"`

	// Kafka's own property names.
	Kafka Kafka `key:"kafka"`

	// What is learned: topics of examples and how to read their records.
	Input Input `key:"input"`

	// How it is learned. All of it is optional, and what reaches the
	// arithmetic is fixed when a model is created.
	Learner Learner `key:"learner"`

	// When the model is saved in its log, and how much of the log is kept.
	Snapshot Snapshot `key:"snapshot"`

	// Solving for the model on the last records, beside learning: how far from the
	// optimum it is, and a challenger that is as near as asked for.
	Refit Refit `key:"refit"`

	// How predictions are written.
	Output Output `key:"output"`

	// What accrete score does: it follows the model and predicts other topics.
	Score Score `key:"score"`

	// The learner's own port: /metrics, /livez and /readyz.
	HTTP HTTP `key:"http"`

	sources map[string]Source
	unknown []string // environment variables that look like ours and are not
	loose   string   // the file, where it holds a secret and others may read it
}

// Kafka says how to reach the brokers.
type Kafka struct {
	// Where to start looking for the cluster: host:port, several with commas.
	Servers []string `key:"bootstrap.servers" required:"true" example:"localhost:9092"`

	// The name under which the brokers log these connections.
	ClientID string `key:"client.id" default:"accrete"`

	// SASL_PLAINTEXT sends the password in the clear, unless the mechanism is
	// SCRAM, and the records always.
	Protocol string `key:"security.protocol" default:"PLAINTEXT" oneof:"PLAINTEXT SSL SASL_PLAINTEXT SASL_SSL"`

	// How to log in; needed where security.protocol begins with SASL.
	Mechanism string `key:"sasl.mechanism" example:"SCRAM-SHA-512" oneof:"PLAIN SCRAM-SHA-256 SCRAM-SHA-512"`

	// Who logs in.
	Username string `key:"sasl.username" example:"accrete"`

	// Better given in the environment or in sasl.password_file; refused on the
	// command line, which every user of the machine can read. Never printed.
	Secret Secret `key:"sasl.password" example:"…"`

	// A file whose first line is the password.
	SecretFile string `key:"sasl.password_file" example:"/run/secrets/kafka"`

	// A PEM file of the authorities to trust in place of the system's.
	CA string `key:"ssl.ca.location" example:"/etc/ssl/kafka-ca.pem"`
}

// Input says which records are examples and how they are read.
type Input struct {
	// The topics whose records are predicted and then learned.
	Topics []string `key:"topics" required:"true" example:"payments.labelled" name:"topic"`

	// How a record's value is written: {"x": [1, 2], "y": 3}, or {"features":
	// {"amount": 1}, "is_fraud": true} with fields of any name.
	Format string `key:"format" default:"json" oneof:"json"`

	// The field that is learned; a record without it is predicted only. Several
	// fields, [x, y, z], are numbers that one model learns together: its
	// prediction is a list, and a record that lacks one of them is predicted only.
	Label Label `key:"label" required:"true" example:"is_fraud"`

	// The field that becomes the prediction's key, in place of the record's
	// key.
	Key string `key:"key" example:"payment_id"`

	// The field that says how much an example counts; without it each counts 1.
	Weight string `key:"weight" example:"weight"`

	// The input columns, or auto: those of the first good record.
	Columns Columns `key:"columns" default:"auto"`

	// What becomes of a record that lacks a column: quarantine sends it to
	// <model>.quarantine, zero reads the column as 0.
	Missing string `key:"missing" default:"quarantine" oneof:"quarantine zero"`

	// What becomes of a record with a column that the model does not have.
	Unknown string `key:"unknown" default:"quarantine" oneof:"quarantine ignore"`

	// How many of the labelled records of the same key before a record lend it
	// their inputs and labels as further inputs: for labels that resemble the
	// ones before. Only the learner itself predicts with such a model, because
	// accrete score does not see the labels.
	Lags int `key:"lags" default:"0" min:"0" max:"100"`

	// What to do where Kafka's retention has taken records that were not yet
	// learned. stop is to stop; record is to say so in the model log and to go
	// on behind them.
	OnGap string `key:"on_gap" default:"stop" oneof:"stop record"`

	// The most classes a model may come to know; further labels go to
	// quarantine.
	MaxClasses int `key:"max_classes" default:"256" min:"2" max:"65536"`

	// A batch is the unit of reading and writing. It bounds latency and has no
	// influence on what is learned.
	Batch Batch `key:"batch"`
}

// Batch bounds one batch of records.
type Batch struct {
	// The most records in one.
	Size int `key:"size" default:"1000" min:"1" max:"100000"`

	// How long one that is not full waits for more.
	Linger Duration `key:"linger" default:"5ms" min:"0s" max:"1m"`
}

// Learner says how a model is learned.
type Learner struct {
	// classification, regression, or auto: strings and booleans are classes,
	// numbers are regressed on.
	Task string `key:"task" default:"auto" oneof:"auto classification regression"`

	// newton takes block-Newton steps on a window of the last 8,192 rows; it is
	// the most accurate, and learning costs the same however many features there
	// are. dsg is doubly stochastic gradients: one block of new random features a
	// mini-batch. udsg and cdsg, or cdsg:alpha for many classes, return to
	// blocks that are there, and all changes every block each time, which fixed
	// has all of from the start. eigenpro is that, preconditioned: nearly as
	// accurate as newton, and cheaper. ridge is exact least squares on at most 256
	// features, and follows drift.
	Algorithm string `key:"algorithm" default:"newton" oneof:"newton dsg udsg cdsg cdsg:alpha all fixed eigenpro ridge"`

	// How dsg, udsg, cdsg and all go: along the gradient at a rate that needs no
	// tuning, with a rate for each coefficient (adagrad), or by solving with the
	// covariance of a block (precond, for mini-batches of 256 and more).
	Stepper string `key:"stepper" default:"rate" oneof:"rate adagrad precond"`

	// What is minimised. auto is logistic or softmax for classes and square for
	// numbers. For classes there are also hinge, squared-hinge, smoothed-hinge
	// and one-vs-rest; for numbers huber:1, absolute:0.1, quantile:0.9 and
	// poisson, in standard deviations of the label, or for poisson in its mean.
	Loss string `key:"loss" default:"auto"`

	// The kernel, as gaussian:2.5; without a number the first examples decide
	// the bandwidth.
	Kernel string `key:"kernel" default:"gaussian"`

	// A file of accrete metric, whose metric the kernel then has, with the scale
	// of the columns that it was learned with, in place of what the first
	// examples say; also written as kernel: {metric: metric.json}. A record whose
	// key, or input.key, has a metric of its own has that one, and others the one
	// that is shared. Not with input.lags.
	KernelMetric string `key:"kernel.metric" example:"metric.json"`

	// How the frequencies of the features are drawn: independently (iid), or
	// orthogonal to each other (sorf), for 64 inputs or more: from 100 inputs on
	// it takes less time and memory, several times less where there are hundreds.
	Sampling string `key:"sampling" default:"iid" oneof:"iid sorf"`

	// The most random features; a feature has a cosine and a sine coefficient
	// for each output.
	MaxFeatures int `key:"max_features" default:"4096" min:"32" max:"1048576"`

	// The labelled examples that are learned at once; 0 stands for 32 with newton
	// and ridge, and 128 with the others.
	Minibatch int `key:"minibatch" default:"0" min:"0" max:"65536"`

	// Regularisation.
	Lambda float64 `key:"lambda" default:"1e-6" min:"1e-15" max:"1"`

	// What to do when ADWIN or Page-Hinkley say that the loss has grown: none
	// counts it in accrete_drifts_total, boost steps as far as at first, forget
	// also gives what was learned less weight, reset begins anew. newton, whose
	// window forgets by itself, begins anew for each of them.
	OnDrift string `key:"on_drift" default:"none" oneof:"none boost forget reset"`

	// The number from which all chance is drawn.
	Seed uint64 `key:"seed" default:"1" min:"1"`

	// A learner that spends longer than this on a mini-batch hangs: the process
	// ends with exit code 75, and whoever starts next takes over.
	Watchdog Duration `key:"watchdog" default:"2m" min:"1s"`
}

// Refit says when the model is solved for and how well. It changes nothing of
// what is learned.
type Refit struct {
	// The time between two refits; 0s for none. After one that took long the next
	// comes later, so that they take a fifth of all time at most.
	Every Duration `key:"every" default:"0s" min:"0s"`

	// How many of the last learned records they are solved for. Each takes 8
	// bytes of memory for each feature of the model.
	Window int `key:"window" default:"4096" min:"64" max:"1000000"`

	// How near they come to the optimum, relative to the objective of the model
	// 0.
	Gap float64 `key:"gap" default:"1e-3" min:"1e-9" max:"1"`
}

// Snapshot says when the model is saved and what is kept.
type Snapshot struct {
	// The time between two snapshots; the first one comes when the warm-up ends.
	Every Duration `key:"every" default:"1m" min:"100ms"`

	// A snapshot is also due when replaying the log since the last one would
	// take this long.
	Replay Duration `key:"replay" default:"10s" min:"100ms"`

	// The snapshots that are never deleted, counted from the newest.
	Keep int `key:"keep" default:"3" min:"1" max:"1000"`

	// The size above which the model log gives up its oldest snapshots.
	History Size `key:"history" default:"2GiB" min:"64MiB"`

	// The pieces in which a snapshot is written to the log; less where the
	// brokers' message.max.bytes asks for it.
	Chunk Size `key:"chunk" default:"700KiB" min:"1KiB" max:"700KiB"`

	// A PEM file with the Ed25519 key that signs snapshots, as openssl genpkey
	// -algorithm ed25519 makes it. The learner's alone.
	SignKey string `key:"sign_key_file" example:"/run/secrets/accrete.key"`

	// The public half, as openssl pkey -pubout writes it. Learners, scorers and
	// verify then use no snapshot that is not signed with it.
	VerifyKey string `key:"verify_key_file" example:"/etc/accrete/accrete.pub"`
}

// Output says how predictions are written.
type Output struct {
	// With at-least-once some predictions are written again after a crash, in
	// the same bytes. With transactional a consumer whose isolation.level is
	// read_committed sees each one once; it costs latency, and the right to the
	// transactional.id accrete-<model> and to the topic <model>.released.
	Delivery string `key:"delivery" default:"at-least-once" oneof:"at-least-once transactional"`
}

// Score says what a scorer reads and writes.
type Score struct {
	// The topics whose records are predicted by the newest snapshot.
	Topics []string `key:"topics" example:"payments" name:"topic"`

	// The topic the predictions go to.
	Output string `key:"output" default:"<model>.scores" name:"topic"`

	// The scorer's own port: /metrics, /livez and /readyz; off for none.
	Listen string `key:"http.listen" default:"127.0.0.1:8081"`
}

// HTTP is the learner's port.
type HTTP struct {
	// host:port; :8080 listens on every interface, off on none.
	Listen string `key:"listen" default:"127.0.0.1:8080"`
}
