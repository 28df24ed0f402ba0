// Package record is what a learner and a scorer share about a record of Kafka: how
// its value becomes a row, where an invalid one goes, what a prediction looks like
// and which model it names.
package record
