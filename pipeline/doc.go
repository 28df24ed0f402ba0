// Package pipeline is the host of a learner: it consumes examples from Kafka and
// publishes predictions and snapshots. It is crash-safe: recovery is bit-identical,
// at whatever point the process dies.
//
// This rests on the order of operations. A BATCH of records is decided and appended
// to the model log. Only after the broker has acknowledged the append at the
// expected offset are its predictions computed and published and its examples
// learned. Everything that is published therefore follows from the log, and a
// successor that replays the log reaches the same state, bit for bit:
//
//	input.Source    collects records of the input partitions
//	history.Decider sorts and decodes them, which fixes the content of the BATCH
//	journal.Journal appends the decision to the model log
//	history.History predicts and learns, one mini-batch after the other
//	publisher       writes predictions and quarantined records
//
// While one BATCH is learned, the next is decided and appended, but no more than
// that: a slow broker or a slow learner puts back-pressure on the source.
//
// One process at a time writes a model log. The process that starts last claims it,
// and from the offset of that claim on the records of all others are void (see
// modellog.Fold). A learner that finds itself fenced discards its state.
package pipeline
