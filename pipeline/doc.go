// Package pipeline is the host of a learner: it brings examples from Kafka to
// the learner and predictions and snapshots back, so that a process may die at
// any instant and nothing can be seen of it afterwards.
//
// Everything rests on one order. A BATCH of records is decided; it is appended
// to the model log; once the append is acked where it was expected, and not
// before, its predictions are made and released and its examples learned. So
// whatever the world has seen follows from the log, and a successor that
// learns the log again comes to the same bits:
//
//	source   collects records of the input partitions
//	decider  sorts and decodes them: what they are is fixed from here on
//	journal  appends the decision to the model log
//	history  predicts and learns, one mini-batch after the other
//	publisher writes predictions and quarantined records
//
// While one BATCH is learned the next is decided and appended, and no more than
// that is under way: a slow broker or a slow learner holds the source back.
//
// One process writes a model log at a time. The one that starts last claims it,
// and from that offset on the records of all others are void (see
// modellog.Fold); a learner that finds itself fenced throws its state away.
package pipeline
