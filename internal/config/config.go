// Package config is the configuration of Accrete: one strict YAML file,
// overridden by environment variables, which are overridden by flags.
//
// Config is the only place where an option is defined. Its keys, environment
// variables, defaults, bounds and the reference (accrete lint --reference and
// docs/configuration.md) are all derived from the fields and comments below:
//
//	key      the option's name in the file, within its section
//	default  the value if none is given
//	example  the value that the reference shows if there is no default
//	required the program needs it
//	oneof    the values that this build accepts, or a key of registries
//	min, max inclusive bounds
//	name     the value is a Kafka topic name, or a part of one
package config

//go:generate go run ./gen

// Config is the effective configuration. Load fills in and validates it.
type Config struct {
	// Name of the model. Its topics are <model>.log, <model>.predictions and
	// <model>.quarantine.
	Model string `key:"model" required:"true" example:"fraud" name:"topic"`

	// Connection to Kafka, with the property names of Kafka's own clients.
	Kafka Kafka `key:"kafka"`

	// Topics to learn from, and how to read their records.
	Input Input `key:"input"`

	// The learner. Every option has a default. Options that influence the
	// arithmetic are fixed when the model is created.
	Learner Learner `key:"learner"`

	// When to write snapshots to the model log, and how much of the log to keep.
	Snapshot Snapshot `key:"snapshot"`

	// Refits in the background: solve for the coefficients on the most recent
	// records, certify how far the live model is from the optimum, and write the
	// solution to the model log as a challenger.
	Refit Refit `key:"refit"`

	// What a new snapshot has to pass before scorers serve it: its progressive predictions
	// are compared with those of the snapshot that is served, on the same records.
	Gate Gate `key:"gate"`

	// How predictions are delivered.
	Output Output `key:"output"`

	// What becomes of invalid records.
	Quarantine Quarantine `key:"quarantine"`

	// The scorer (accrete score), which predicts topics with the newest snapshot.
	Score Score `key:"score"`

	// Where requests for predictions over HTTP are written, with an id that callers get
	// back, so that labels that come later can be joined to them.
	Requests Requests `key:"requests"`

	// The learner's HTTP server: /metrics, /livez and /readyz. The options of TLS and
	// of the token are those of the scorer's HTTP server, too.
	HTTP HTTP `key:"http"`

	// Metrics and traces for an OpenTelemetry collector.
	Telemetry Telemetry `key:"telemetry"`

	sources map[string]Source
	unknown []string // environment variables with our prefix that name no option
	unused  *Problem // properties of Kafka's clients with no use here
	loose   string   // path of the file if it holds a secret and others may read it
}

// Kafka is the connection to the brokers.
type Kafka struct {
	// Initial brokers of the cluster as host:port, separated by commas.
	Servers []string `key:"bootstrap.servers" required:"true" example:"localhost:9092"`

	// Client name in the brokers' logs and quotas.
	ClientID string `key:"client.id" default:"accrete"`

	// Security protocol. SASL_PLAINTEXT sends records unencrypted, and the
	// password too unless the mechanism is SCRAM.
	Protocol string `key:"security.protocol" default:"PLAINTEXT" oneof:"PLAINTEXT SSL SASL_PLAINTEXT SASL_SSL"`

	// SASL mechanism; required if security.protocol begins with SASL. AWS_MSK_IAM takes
	// its credentials from where the tools of AWS do: the environment, shared files, the
	// role of a service account, container or instance.
	Mechanism string `key:"sasl.mechanism" example:"SCRAM-SHA-512" oneof:"mechanisms"`

	// SASL user name, for PLAIN and SCRAM.
	Username string `key:"sasl.username" example:"accrete"`

	// SASL password. Prefer the environment or sasl.password_file. Refused on the
	// command line, which every user of the machine can read. Never printed.
	Secret Secret `key:"sasl.password" example:"…"`

	// File with the SASL password on its first line. Like the files below, it is read
	// again for every connection, so that it can be replaced while the program runs.
	SecretFile string `key:"sasl.password_file" example:"/run/secrets/kafka"`

	// Where the tokens of OAUTHBEARER come from: the URL of an authorization server
	// that issues them for client credentials, or file:///path of a file that another
	// program keeps fresh.
	TokenEndpoint string `key:"sasl.oauthbearer.token.endpoint.url" example:"https://login.example.com/oauth2/token"`

	// OAuth client.
	OAuthClient string `key:"sasl.oauthbearer.client.id" example:"accrete"`

	// OAuth client secret. Prefer the environment or the file. Never printed.
	OAuthSecret Secret `key:"sasl.oauthbearer.client.secret" example:"…"`

	// File with the OAuth client secret on its first line.
	OAuthSecretFile string `key:"sasl.oauthbearer.client.secret_file" example:"/run/secrets/oauth"`

	// OAuth scopes to request, separated by spaces.
	OAuthScope string `key:"sasl.oauthbearer.scope" example:"kafka"`

	// SASL extensions sent with the token, as name=value.
	OAuthExtensions []string `key:"sasl.oauthbearer.extensions" example:"logicalCluster=lkc-1"`

	// PEM file of the certificate authorities to trust instead of the system's.
	CA string `key:"ssl.ca.location" example:"/etc/ssl/kafka-ca.pem"`

	// PEM file of the client's certificate, for brokers that require one (mutual TLS).
	Certificate string `key:"ssl.certificate.location" example:"/run/secrets/client.pem"`

	// PEM file of the key of that certificate, if it is not in the same file.
	CertificateKey string `key:"ssl.key.location" example:"/run/secrets/client.key"`
}

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
	// novelty it is no input and is not learned, and may be left out.
	Label Label `key:"label" required:"true" example:"is_fraud"`

	// Labels that come later than the features they belong to, in the same topics or in
	// another one.
	Labels Labels `key:"labels"`

	// Field to use as the key of the prediction instead of the record's key.
	Key string `key:"key" example:"payment_id"`

	// Field that holds the weight of an example. Without it every weight is 1.
	Weight string `key:"weight" example:"weight"`

	// Input columns, or auto to take those of the first valid record. Also with their
	// types, as {amount: numeric, carrier: category, paid: boolean, at: time, note: ignored, row: id};
	// the type of others is that of their first value. Values inside objects and lists are
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
	// change, until accrete resume. Either way the change is in the model log. May be changed
	// at any time.
	OnChange string `key:"on_change" default:"continue" oneof:"continue stop"`

	// Statistics of the earlier records of a key as additional inputs, with half-lives of
	// event time: count, sum, mean and deviation of a field of numbers, number of different
	// values of another (distinct), and time since the last record. Fields that are no
	// inputs are declared as id in input.columns. See docs/windows.md.
	Windows Windows `key:"windows" example:"{key: card, of: amount, over: [1h, 7d]}"`

	// Number of previous labelled records with the same key whose inputs and
	// labels become additional inputs, for autocorrelated labels. Only the learner
	// can predict with such a model, because a scorer does not see the labels.
	Lags int `key:"lags" default:"0" min:"0" max:"100"`

	// Records that retention deleted before they were learned. stop: exit with an
	// error. record: write a GAP to the model log and continue after them.
	OnGap string `key:"on_gap" default:"stop" oneof:"stop record"`

	// Maximum number of classes. Records with further labels go to quarantine.
	MaxClasses int `key:"max_classes" default:"256" min:"2" max:"65536"`

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
	// record. The field is no input column unless it is declared as one.
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

// Registry is the connection to a schema registry.
type Registry struct {
	// URLs of the registry, separated by commas; a path is kept.
	URL []string `key:"url" example:"https://registry.example.com:8081"`

	// User name of basic authentication.
	Username string `key:"username" example:"accrete"`

	// Password. Prefer the environment or the file. Never printed.
	Secret Secret `key:"password" example:"…"`

	// File with the password on its first line. This and the files below are read again
	// for every request.
	SecretFile string `key:"password_file" example:"/run/secrets/registry"`

	// File with a bearer token on its first line, instead of a password.
	Token string `key:"token_file" example:"/run/secrets/registry-token"`

	// PEM file of the certificate authorities to trust instead of the system's.
	CA string `key:"ssl.ca.location" example:"/etc/ssl/registry-ca.pem"`

	// PEM file of the client's certificate, for a registry that requires one.
	Certificate string `key:"ssl.certificate.location" example:"/run/secrets/client.pem"`

	// PEM file of the key of that certificate, if it is not in the same file.
	CertificateKey string `key:"ssl.key.location" example:"/run/secrets/client.key"`
}

// Batch bounds one batch of records.
type Batch struct {
	// Maximum number of records in a batch.
	Size int `key:"size" default:"1000" min:"1" max:"100000"`

	// Maximum wait for more records after the first.
	Linger Duration `key:"linger" default:"5ms" min:"0s" max:"1m"`
}

// Learner configures the model and its algorithm.
type Learner struct {
	// Kind of model. auto: string and boolean labels are classes, numbers are
	// regressed on. novelty: every record is learned without a label, and flagged if it
	// is unlike the others; needs no input.label.
	Task string `key:"task" default:"auto" oneof:"auto classification regression novelty"`

	// Share of the records that task novelty flags.
	Nu float64 `key:"nu" default:"0.05" min:"0.001" max:"0.5"`

	// Options of a paper, for all of these that are not set themselves: algorithm,
	// direction, step, block_size, minibatch, max_features and lambda. Another algorithm
	// than that of the preset is refused. See papers.md.
	Preset string `key:"preset" default:"none" oneof:"presets"`

	// Learning algorithm, see algorithms.md.
	Algorithm string `key:"algorithm" default:"newton" oneof:"algorithms"`

	// Direction of the steps of dsg, udsg, cdsg and all. rate: the gradient, with a
	// step size that needs no tuning. adagrad: the gradient, with a step size for each
	// coefficient. precond: the gradient, preconditioned with the covariance of a
	// block, for mini-batches of 256 and more. auto: precond for dsg, udsg and cdsg
	// unless minibatch is less than that, otherwise rate.
	Direction string `key:"direction" default:"auto" oneof:"directions"`

	// Size of the steps of dsg, udsg, cdsg and all, and what they are taken in. The
	// defaults are for most streams.
	Step Step `key:"step"`

	// Loss to minimise. auto: logistic or softmax for classes, square for numbers.
	// Others for classes: hinge, squared-hinge, smoothed-hinge, one-vs-rest. Others
	// for numbers: huber:1 and absolute:0.1, with parameters in standard deviations of
	// the label, poisson, quantile:0.9, and several quantiles that do not cross:
	// quantile:0.1,0.5,0.9.
	Loss string `key:"loss" default:"auto"`

	// Kernel: auto for the one that suits the first 1,000 rows, gaussian, laplacian,
	// cauchy, matern:NU, rational-quadratic:ALPHA,
	// hierarchical:WIDTH, sums and products of these such as gaussian+laplacian;
	// arc-cosine:ORDER, polynomial:DEGREE, dot-product:RATIO; for inputs of 0 or more
	// chi2, intersection, jensen-shannon, hellinger, exponential-semigroup or
	// reciprocal-semigroup; for inputs above -C skewed-chi2:C or
	// skewed-intersection:C; see docs/algorithms.md. The warm-up chooses its scale,
	// unless one is given as the last parameter: gaussian:2.5, matern:1.5,2.5.
	Kernel string `key:"kernel" default:"gaussian"`

	// File written by accrete metric: the kernel uses the learned metric and its
	// column scales instead of those of the warm-up. Also written as
	// kernel: {metric: metric.json}. Records are matched to the metric of their key
	// (input.key or the record's key), others use the shared metric. Not with
	// input.lags.
	KernelMetric string `key:"kernel.metric" example:"metric.json"`

	// Sampling of the frequencies. iid: independent. sorf: structured orthogonal,
	// for 64 inputs or more; from 100 inputs on it needs less time and memory.
	// fastfood: the same, nearly independent. orthogonal: for kernels of the
	// Euclidean distance. qmc: evenly spread, for few inputs and kernels with
	// independent frequencies. leverage: those that matter on the first rows more
	// often, for few features. See docs/algorithms.md.
	Sampling string `key:"sampling" default:"iid" oneof:"samplings"`

	// Maximum number of random features. A feature is one frequency with a cosine
	// and a sine coefficient per target or class.
	MaxFeatures int `key:"max_features" default:"4096" min:"32" max:"1048576"`

	// Memory that the random features of dsg, udsg and cdsg may take in the learner,
	// which then grow without regard to max_features, as in the papers: 512MB. What
	// happens at the limit is step.at_cap. 0B: max_features is the limit.
	Memory Size `key:"memory" default:"0B" example:"512MB"`

	// Number of random features in a block. 0: the default of the algorithm.
	BlockSize int `key:"block_size" default:"0" example:"64" min:"0" max:"65536"`

	// Number of labelled examples per step. 0: the default of the algorithm: 32 for
	// newton and ridge, 1,024 for direction precond, and 128 otherwise.
	Minibatch int `key:"minibatch" default:"0" min:"0" max:"65536"`

	// Regularisation: weight of half the squared norm beside the mean loss. 0: for dsg,
	// udsg and cdsg the warm-up chooses it by leave-one-out, for others 1e-6. newton
	// and ridge always use that of the warm-up.
	Lambda float64 `key:"lambda" default:"0" example:"1e-6" min:"0" max:"1"`

	// Reaction when ADWIN or Page-Hinkley detects that the loss has grown. none:
	// count it in accrete_drifts_total. boost: reset the step size. forget: boost,
	// and reduce the weight of what was learned. reset: start again. newton, which
	// forgets through its window, starts again for boost, forget and reset alike.
	OnDrift string `key:"on_drift" default:"none" oneof:"reactions"`

	// Mixture with simple members. on: predictions are those of the algorithm mixed with
	// linear models that forget, smaller machines that follow changes and predictions from
	// the last labels, by weights that follow their losses row by row; scorers mix the
	// members that need no labels. auto: on for newton with the losses logistic, softmax and
	// square and an effort of 32 or more; an existing model keeps what it was created with.
	// See docs/mixture.md.
	Mixture string `key:"mixture" default:"auto" oneof:"auto on off"`

	// Class that is predicted. none: the most probable. f1: the rarer of two from the
	// probability on that maximises its F1 over the recent predictions. {fraud: 50}, or
	// {fraud: {ok: 50}}: the one with the least expected cost, where a wrong prediction
	// costs 1 or as much as given for the true class, or for it and the predicted one. See
	// docs/imbalance.md.
	Costs Costs `key:"costs" default:"none"`

	// Share of the labels of a regression that the interval of their prediction
	// contains, from 0.5 to 0.999, see docs/predictions.md. 0: no intervals.
	Intervals float64 `key:"intervals" default:"0" example:"0.9" min:"0" max:"0.999"`

	// Variance of the label around each prediction of a regression. on: predictions have
	// it, and intervals are wider where little has been learned, see docs/predictions.md.
	Variance string `key:"variance" default:"off" oneof:"off on"`

	// Number of records whose inputs the monitor compares at a time with those of the
	// reference, which are four times as many; at least 250. Changes are logged with the
	// columns that moved, and counted in accrete_input_changes_total; see docs/novelty.md.
	// 0: no monitor.
	Monitor int `key:"monitor" default:"500" min:"0" max:"100000"`

	// Out-of-fold statistics: the categories of each of this many parts of the first 1,000
	// rows, 2 to 100, are encoded with the statistics of the other parts instead of those of
	// the rows before, see docs/columns.md. 0: they are not.
	Folds int `key:"folds" default:"0" example:"5" min:"0" max:"100"`

	// Numbers as normal scores, of the quantiles of the first rows. auto: those of more than
	// 33 values, if the warm-up finds a smaller leave-one-out error so, which helps with
	// long tails; an existing model keeps what it was created with. off: only columns of
	// type numeric:normal. See docs/columns.md.
	NormalScores string `key:"normal_scores" default:"auto" oneof:"auto off"`

	// Number of extremely randomised trees whose leaves are features of newton beside
	// the random ones, for tables with jumps or irrelevant columns: 200 is a good
	// number, see docs/forest.md. 0: none.
	Forest int `key:"forest" default:"0" example:"200" min:"0" max:"4096"`

	// Time that newton takes for an example: the number of rows of the window that steps
	// visit for each, from 1 to 1024. 8 is several times as fast as 256 and less accurate;
	// there are at most 64 random features for each row visit. auto: 256, or less if the
	// first rows show that labels are mostly noise. See docs/effort.md.
	Effort string `key:"effort" default:"256" example:"32"`

	// Seed of all random numbers.
	Seed uint64 `key:"seed" default:"1" min:"1"`

	// Maximum time for one mini-batch. A learner that exceeds it is considered hung:
	// the process exits with code 75, and the next one takes over.
	Watchdog Duration `key:"watchdog" default:"2m" min:"1s"`
}

// Step configures the steps of stochastic descent.
type Step struct {
	// Size of the first step; with direction precond a part of the Newton step. 0: one
	// that needs no tuning, with precond 0.5.
	Size float64 `key:"size" default:"0" example:"0.25" min:"0" max:"1e12"`

	// Decay of the step size, which tends to theta/t after t steps. 0: 1/lambda, and
	// with precond a constant step size.
	Theta float64 `key:"theta" default:"0" example:"100" min:"0" max:"1e12"`

	// Number of steps in new blocks that udsg takes before those in existing ones.
	// 0 for both: 1.
	New int `key:"new" default:"0" example:"2" min:"0" max:"1048576"`

	// Number of steps in existing blocks that udsg takes in turn with those.
	Old int `key:"old" default:"0" example:"2" min:"0" max:"1048576"`

	// Largest step size of cdsg in an existing block, relative to a new one. 0: 2.
	Longest float64 `key:"longest" default:"0" example:"1.5" min:"0" max:"100"`

	// What dsg, udsg, cdsg and all serve. none: the iterate. polynomial: its average,
	// recent steps count more. uniform: its mean. auto: the iterate or the polynomial
	// average, whichever had the lower recent loss.
	Averaging string `key:"averaging" default:"auto" oneof:"averages"`

	// What dsg, udsg and cdsg do when the model has max_features. revisit: steps in
	// existing blocks. all: steps in all blocks at once. stop: nothing, so that the
	// model remains as it is. auto: all for dsg with direction rate or adagrad,
	// otherwise revisit.
	AtCap string `key:"at_cap" default:"auto" oneof:"caps"`
}

// Refit configures refits in the background. They do not influence what is
// learned.
type Refit struct {
	// Time between refits; 0s disables them. Refits take at most a fifth of the
	// time: after a long one the next is postponed.
	Every Duration `key:"every" default:"0s" min:"0s"`

	// Number of most recently learned records to solve for. Each needs 8 bytes of
	// memory per feature of the model.
	Window int `key:"window" default:"4096" min:"64" max:"1000000"`

	// Duality gap at which a refit stops, relative to the objective of the zero model.
	Tolerance float64 `key:"tolerance" default:"1e-3" min:"1e-9" max:"1"`

	// Removes random features from the solution, which makes it smaller and faster:
	// the penalty of the norm of each feature's coefficients, as a share of the least
	// for which no feature is left. 0 keeps all. See docs/refit.md.
	Prune float64 `key:"prune" default:"0" min:"0" max:"0.99"`
}

// Gate configures the comparison of a new snapshot with the one served.
type Gate struct {
	// Metric that is compared. none: every snapshot is served. loss: the logarithmic loss
	// of classes, the squared error of numbers, the pinball loss of a quantile. error: the
	// share of wrong classes, or the absolute error of numbers. Needs labels, and costs
	// a second prediction for each labelled record. Not with input.lags.
	Metric string `key:"metric" default:"none" oneof:"none loss error"`

	// Share by which the metric of a new snapshot may exceed that of the one served. A
	// snapshot that is worse is written to the log and not served.
	WorseThan float64 `key:"worse_than" default:"0.05" min:"0" max:"100"`

	// Number of last labelled records to compare; fewer if the snapshot that is served is
	// newer than these.
	Over int `key:"over" default:"10000" min:"1" max:"10000000"`
}

// Snapshot configures when snapshots are written and what is kept.
type Snapshot struct {
	// Time between snapshots. The first is written when the warm-up ends.
	Every Duration `key:"every" default:"1m" min:"100ms"`

	// A snapshot is also written once replaying the log since the last one would
	// take this long.
	Replay Duration `key:"replay" default:"10s" min:"100ms"`

	// Number of newest snapshots that are never deleted.
	Keep int `key:"keep" default:"3" min:"1" max:"1000"`

	// Size of the model log above which the oldest snapshots are deleted.
	History Size `key:"history" default:"2GiB" min:"64MiB"`

	// Size of the pieces in which a snapshot is written to the log. Reduce it if the
	// brokers' message.max.bytes requires it.
	Chunk Size `key:"chunk" default:"700KiB" min:"1KiB" max:"700KiB"`

	// PEM file with the Ed25519 private key that signs the model log, as written by
	// openssl genpkey -algorithm ed25519. Only the learner, and commands that write
	// to the log, need it.
	SignKey string `key:"sign_key_file" example:"/run/secrets/accrete.key"`

	// PEM file with the public key, as written by openssl pkey -pubout. If set,
	// learners, scorers and verify ignore everything in the model log that is not
	// signed with it.
	VerifyKey string `key:"verify_key_file" example:"/etc/accrete/accrete.pub"`
}

// Telemetry configures what is sent elsewhere.
type Telemetry struct {
	// URL of an OpenTelemetry collector, to which metrics and traces are sent by OTLP over HTTP
	// (protobuf). Empty: that of the environment variable OTEL_EXPORTER_OTLP_ENDPOINT, and
	// without it nothing is sent. The standard variables OTEL_* apply.
	OTLP string `key:"otlp" example:"http://localhost:4318"`
}

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
	// declare those that are no inputs with type id in input.columns. May be changed at any time.
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

// Score configures the scorer.
type Score struct {
	// Topics whose records are predicted with the newest snapshot.
	Topics []string `key:"topics" example:"payments" name:"topic"`

	// Topic for the predictions.
	Output string `key:"output" default:"<model>.scores" name:"topic"`

	// Second model, which predicts for a share of the keys: to be tried before it takes over.
	// Its snapshots come from its own model log.
	Canary string `key:"canary.model" example:"payments-v2" name:"topic"`

	// Share of the keys for which canary.model predicts. A record without a key is chosen by
	// its value.
	CanaryShare float64 `key:"canary.share" default:"0.05" min:"0" max:"1"`

	// Topic for the predictions of canary.model, so that it runs as a shadow beside the model. None:
	// its predictions take the place of those of the model.
	CanaryOutput string `key:"canary.output" example:"payments.shadow" name:"topic"`

	// Address of the scorer's HTTP server: /metrics, /livez, /readyz, and predictions
	// with http.predict. off disables it.
	Listen string `key:"http.listen" default:"127.0.0.1:8081"`

	// Predictions over HTTP: POST /predict and the Open Inference Protocol under /v2.
	// on: whoever reaches http.listen can ask, unless a token or certificates of
	// clients are required; see the section http.
	Predict string `key:"http.predict" default:"off" oneof:"off on"`
}

// Requests configures the topic of the requests for predictions over HTTP.
type Requests struct {
	// Topic to which each predicted row is written before its request is answered; see
	// docs/serving.md. It is created with the brokers' defaults unless it exists. None: requests
	// are not written.
	Topic string `key:"topic" example:"payments.requests" name:"topic"`

	// Maximum wait for the acknowledgement of a request by the brokers.
	Timeout Duration `key:"timeout" default:"1s" min:"10ms" max:"1m"`

	// Requests that the topic has not acknowledged in time. refuse: answer with status 503
	// and Retry-After instead of a prediction. mark: answer with the prediction, and with the
	// header Accrete-Logged: no (or unknown).
	OnFailure string `key:"on_failure" default:"refuse" oneof:"refuse mark"`
}

// HTTP configures the learner's HTTP server, and who may use it and the scorer's.
type HTTP struct {
	// Address as host:port. :8080 listens on every interface, off disables the
	// server.
	Listen string `key:"listen" default:"127.0.0.1:8080"`

	// Predictions of the learner's newest snapshot, as with score.http.predict, for
	// a learner and a scorer in one process.
	Predict string `key:"predict" default:"off" oneof:"off on"`

	// PEM file with the certificate of the learner's and the scorer's HTTP server, and
	// those of intermediate authorities. The servers then speak TLS 1.2 or later. This
	// and the files below are read again when they change.
	Cert string `key:"tls.cert_file" example:"/etc/accrete/tls.crt"`

	// PEM file with the private key of tls.cert_file.
	Key string `key:"tls.key_file" example:"/etc/accrete/tls.key"`

	// PEM file of the certificate authorities of clients: requests then need a client
	// certificate of one of them, except for /livez, /readyz and /v2/health.
	ClientCA string `key:"tls.client_ca_file" example:"/etc/accrete/clients.crt"`

	// File with a bearer token on its first line: requests then need it, except for
	// /livez, /readyz and /v2/health. It is also accepted as a password of basic
	// authentication. With tls.client_ca_file, too, either is sufficient.
	Token string `key:"token_file" example:"/run/secrets/accrete-http"`

	// Host names that the servers answer to, beside localhost, addresses and the host of
	// listen. Needed behind a proxy on the same machine that passes the name on. A server on a
	// loopback address refuses other names, so that no page of another site can read it (DNS
	// rebinding); any other server does so only if there are hosts.
	Hosts []string `key:"hosts" example:"accrete.example.com"`
}
