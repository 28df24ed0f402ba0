// Package modellog implements the model log. A learner writes each decision to this log before the
// decision takes effect, and also stores its snapshots there, in chunks. FORMAT.md specifies every
// byte.
//
// The package does not access Kafka. The host appends the output of Encode and passes the records
// that it reads to a Fold. A Fold is a state machine without input, output or clock, and it alone
// decides which records count.
package modellog
