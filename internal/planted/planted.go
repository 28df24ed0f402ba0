//go:build planted

package planted

import "os"

// Selected is the fault in effect, or "" for none.
var Selected = os.Getenv("ACCRETE_PLANTED")

// Faults are the values of Selected. Each breaks one rule that the guarantees of learner and model
// log depend on.
var Faults = []string{
	"rerelease",   // a successor does not publish again what is not known to be published
	"ack",         // an append without a response counts as acknowledged
	"offset",      // an append may be acknowledged at any offset
	"owner",       // claims are distinguished by their epochs only
	"found",       // another record at the expected place counts as the appended one
	"manifest",    // a snapshot is completed before its predictions are released
	"released",    // RELEASED has a later seq than what is acknowledged
	"digest",      // a replay does not compare the digests of its records
	"replay",      // a replay omits the last BATCH
	"thaw",        // a restored model has no positions that it has learned to
	"schema",      // a restored decoder has the classes in another order
	"seek",        // a successor begins one record too late
	"fingerprint", // the last record before the position is not verified
	"trim",        // a log that is trimmed while it is read is an error
	"late",        // a delayed chunk among those of a snapshot is an error
	"unseeded",    // a learner claims a log in which every claim is void
	"gone",        // a snapshot that a successor has deleted counts as damaged
	"marker",      // with transactions, a successor ignores the markers of its predecessor
	"confirm",     // with transactions, a learner does not confirm its claim
	"shallow",     // if the newest snapshots are damaged, older ones are not read
	"fallback",    // if a snapshot is damaged, the model starts empty
	"tail",        // a log that has become shorter is accepted
	"compacted",   // the configuration of the log is not checked
	"gap",         // missing offsets are ignored
}

// Adverse are the faults that take effect only with elections, oversized records or the loss of a
// topic's end.
var Adverse = []string{
	"outlived",    // predictions of decisions that the log has lost are ignored
	"reuse",       // a rollback uses again a seq that the log has lost
	"versions",    // a log of another arithmetic is continued without an UPGRADE
	"truncated",   // an input that was truncated and has grown again is accepted
	"recreated",   // the topic ids of the input are not checked
	"election",    // a new leader of an input partition counts as a truncation
	"adopted",     // an adopted topic is continued one record too late
	"grow",        // partitions that are added to the input are not found
	"lag",         // the lag ends before a transaction that hangs
	"uncommitted", // records of open and aborted transactions are read
	"unbounded",   // quarantined records and keys of predictions are not truncated
	"forgotten",   // a producer that the broker has forgotten keeps its id
}

// Fault reports whether the fault with this name is in effect.
func Fault(name string) bool { return Selected == name }
