//go:build planted

package pipeline

import "os"

// Planted is the fault that this build has: none if it is empty. Whoever tests
// the tests sets it, from outside by the environment.
var Planted = os.Getenv("ACCRETE_PLANTED")

// Faults are those there are to choose from. Each breaks one of the rules on
// which the promises rest.
var Faults = []string{
	"rerelease",   // a successor does not publish again what may not have been published
	"ack",         // an append without an answer counts as acked
	"offset",      // an ack at any offset will do
	"owner",       // claims are told apart by their epoch only
	"found",       // any record in the place of ours is taken for ours
	"manifest",    // a snapshot is completed before its predictions are released
	"released",    // RELEASED runs ahead of what is acked
	"digest",      // a replay does not look at the digest of its records
	"replay",      // a replay leaves out the last BATCH
	"thaw",        // a restored model has forgotten what it has learned from
	"schema",      // a restored decoder has the classes in another order
	"seek",        // a successor begins one record too late
	"fingerprint", // the last record before the position is not looked at
	"trim",        // a log that is shortened under its reader is an error
	"late",        // so is a late chunk among those of a snapshot
	"unseeded",    // a learner claims a log in which no claim can count
	"gone",        // a snapshot that a successor has deleted counts as damaged
	"marker",      // with transactions, a successor does not look how far its predecessor came
	"confirm",     // nor whether it is still the writer of the model
	"shallow",     // where the newest snapshot is damaged, nobody reads on further back
	"fallback",    // where a snapshot is damaged the model begins anew
}

func planted(fault string) bool { return Planted == fault }
