// Package heartbeat shows the learners of a model which of them are alive, and a standby when to
// take over.
package heartbeat

import "time"

// Topic returns the name of the topic of the heartbeats of a model's learners.
func Topic(model string) string { return model + ".heartbeats" }

// heartbeatsConfig keeps the records for an hour, for inspection. The broker sets
// their timestamps, so that the clocks of the learners' machines do not matter.
var heartbeatsConfig = map[string]string{
	"cleanup.policy":         "delete",
	"retention.ms":           "3600000",
	"segment.ms":             "600000",
	"message.timestamp.type": "LogAppendTime",
}

// Every is the usual interval of heartbeats. A standby takes over after
// silentBeats heartbeats of its own without one of the owner in between.
const Every = 150 * time.Millisecond

// role is the state of the process that writes a heartbeat.
type role string

const (
	Owner   role = "owner"   // learns, or is about to
	Standby role = "standby" // waits for the owner to end
	Left    role = "left"    // has ended for another reason than being fenced
	Fenced  role = "fenced"  // has ended because another learner has claimed the model
)

// Beat is the value of a record of the heartbeats topic.
type Beat struct {
	Role    role   `json:"role"`
	Process string `json:"process"`         // random id, drawn when the process starts
	Host    string `json:"host"`            // host name and process id, for information
	Epoch   int64  `json:"epoch,omitempty"` // epoch of the claim that an owner has, or is about to make
	Joined  int64  `json:"joined"`          // offset of the first heartbeat of this process; -1 in that one
}
