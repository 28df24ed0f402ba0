package config

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

// Telemetry configures what is sent elsewhere.
type Telemetry struct {
	// URL of an OpenTelemetry collector, to which metrics and traces are sent by OTLP over HTTP
	// (protobuf). Empty: that of the environment variable OTEL_EXPORTER_OTLP_ENDPOINT, and
	// without it nothing is sent. The standard variables OTEL_* apply.
	OTLP string `key:"otlp" example:"http://localhost:4318"`
}
