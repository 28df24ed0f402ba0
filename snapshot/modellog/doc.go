// Package modellog is the model log, in which a learner writes each decision
// before the decision takes effect, and snapshots in pieces. FORMAT.md says what
// every byte is.
//
// Nothing here talks to Kafka. The host appends what Encode returns and gives
// what it reads to a Fold, which is a state machine without input, output or
// clock, and alone decides which records count.
package modellog
