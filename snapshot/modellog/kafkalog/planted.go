//go:build planted

package kafkalog

import "os"

// Planted is the fault that this build has: none if it is empty. Whoever tests
// the tests sets it, from outside by the environment.
var Planted = os.Getenv("ACCRETE_PLANTED")

// Faults are those there are to choose from.
var Faults = []string{
	"tail",      // a log that has become shorter is read on
	"compacted", // the configuration of the log is not looked at
	"hole",      // offsets that are missing are passed over
}

func planted(fault string) bool { return Planted == fault }
