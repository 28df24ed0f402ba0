package join

import (
	"fmt"
	"strings"
)

// Config describes how labels are joined with features that came earlier. It is part of the
// options of a model.
type Config struct {
	Topic    string `json:"topic,omitempty"`     // topic of the labels; empty: the topics of the features
	Key      string `json:"key,omitempty"`       // source of the key of features: see Field
	LabelKey string `json:"label_key,omitempty"` // source of the key of labels; empty: as for features
	Label    string `json:"label,omitempty"`     // field with the label, in the topic of labels
	Time     string `json:"time,omitempty"`      // field with the time of features and labels; empty: the timestamp of the record

	Zones bool `json:"zones,omitempty"` // see decode.Config; of Time

	TTL     int64  `json:"ttl"`               // maximum time between features and their label, in milliseconds
	Grace   int64  `json:"grace"`             // how far out of order records may be, in milliseconds
	Pending int    `json:"pending"`           // maximum number of features that wait
	Timeout string `json:"timeout,omitempty"` // label for features without one within the TTL; empty: such features are dropped

	// Quarantine lists the kinds of labels that go to quarantine instead of being ignored. They
	// are some of Rejectable, in the same order.
	Quarantine []string `json:"quarantine,omitempty"`
}

// The kinds of labels that are not learned.
const (
	LateLabel          = "late"          // it came after the TTL of its features
	DuplicateLabel     = "duplicate"     // its features already have the same label
	ContradictingLabel = "contradicting" // its features already have another label
	UnmatchedLabel     = "unmatched"     // no features came for it within the TTL
)

// Rejectable lists the kinds of labels that may go to quarantine.
var Rejectable = []string{LateLabel, DuplicateLabel, ContradictingLabel}

// MaxPending is the largest Config.Pending.
const MaxPending = 10_000_000

// headerSource is the prefix of a source that is a header.
const headerSource = "header:"

// Header returns the name of the header in a source of keys. ok is false for other sources.
func Header(source string) (name string, ok bool) { return strings.CutPrefix(source, headerSource) }

// Field returns the path of the field in a source of keys. ok is false for other sources. A
// source is the path of a field, header:NAME, or empty for the key of the record or its field
// input.key.
func Field(source string) (path string, ok bool) {
	if _, header := Header(source); header || source == "" {
		return "", false
	}
	return source, true
}

// Of returns the source of the key of labels, which defaults to that of features.
func (c *Config) Of() string {
	if c.LabelKey == "" {
		return c.Key
	}
	return c.LabelKey
}

// Check returns an error if c is invalid.
func (c *Config) Check() error {
	switch {
	case c.TTL <= 0:
		return fmt.Errorf("input.labels.ttl is not positive")
	case c.Grace < 0:
		return fmt.Errorf("input.labels.grace is negative")
	case c.Pending < 1 || c.Pending > MaxPending:
		return fmt.Errorf("input.labels.pending is %d: want 1 to %d", c.Pending, MaxPending)
	}
	return nil
}

// rejects reports whether labels of a kind go to quarantine.
func (c *Config) rejects(kind string) bool {
	for _, k := range c.Quarantine {
		if k == kind {
			return true
		}
	}
	return false
}
