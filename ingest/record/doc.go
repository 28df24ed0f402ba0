// Package record defines how learners and scorers treat Kafka records: how the value of a
// record becomes a row, what is written to the quarantine topic for an invalid record, what
// a prediction looks like, and how it names its model.
package record
