package modellog

import (
	"fmt"
)

// Verdict is the decision of a Fold about a record.
type Verdict struct {
	Offset  int64  `json:"offset"`
	Type    string `json:"type"`
	Bytes   int    `json:"bytes,omitempty"`   // of the value
	Void    string `json:"void,omitempty"`    // why the record does not count
	Waiting bool   `json:"waiting,omitempty"` // a later MANIFEST will decide
	Record  Record `json:"record,omitempty"`  // nil if it could not be read
}

// Counts reports whether the record is part of the model's history.
func (v Verdict) Counts() bool { return v.Void == "" && !v.Waiting }

func (v Verdict) String() string {
	s := fmt.Sprintf("%d %s", v.Offset, v.Type)
	if v.Record != nil {
		s += " " + v.Record.String()
	}
	if v.Void != "" {
		s += ", void: " + v.Void
	}
	if v.Waiting {
		s += ", waiting"
	}
	return s
}
