package config

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
