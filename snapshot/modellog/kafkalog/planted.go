//go:build planted

package kafkalog

import "os"

// Planted is the fault of this build, empty for none. A test of the tests sets it
// from outside through the environment.
var Planted = os.Getenv("ACCRETE_PLANTED")

// Faults lists the possible faults.
var Faults = []string{
	"tail",      // a log that has become shorter is accepted
	"compacted", // the configuration of the log is not checked
	"hole",      // missing offsets are ignored
}

func planted(fault string) bool { return Planted == fault }
