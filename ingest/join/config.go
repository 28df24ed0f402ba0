package join

import (
	"fmt"
	"strings"
)

// Config describes labels that come later than the features they belong to. It is part of
// the options of a model.
type Config struct {
	Topic    string `json:"topic,omitempty"`     // of the labels; empty: they are in the topics of the features
	Key      string `json:"key,omitempty"`       // where the key of features is: a Source
	LabelKey string `json:"label_key,omitempty"` // where the key of labels is; empty: as of features
	Label    string `json:"label,omitempty"`     // field with the label, in the topic of labels
	Time     string `json:"time,omitempty"`      // field with the time of both; empty: the timestamp of the record

	TTL     int64  `json:"ttl"`               // how long after its features a label counts, in milliseconds
	Grace   int64  `json:"grace"`             // how far out of order records may be, in milliseconds
	Pending int    `json:"pending"`           // maximum number of features that wait
	Timeout string `json:"timeout,omitempty"` // label of features that have got none within TTL; empty: they are dropped

	// Quarantine are the kinds of labels that go to quarantine instead of being ignored, of
	// LateLabel, DuplicateLabel and ContradictingLabel, in this order.
	Quarantine []string `json:"quarantine,omitempty"`
}

// The kinds of labels that are not learned.
const (
	LateLabel          = "late"          // it came after the TTL of its features
	DuplicateLabel     = "duplicate"     // its features have the same label already
	ContradictingLabel = "contradicting" // its features have another label already
	UnmatchedLabel     = "unmatched"     // it has found no features within the TTL
)

// Rejectable are the kinds of labels that may go to quarantine.
var Rejectable = []string{LateLabel, DuplicateLabel, ContradictingLabel}

// MaxPending is the largest Config.Pending.
const MaxPending = 10_000_000

// headerSource begins a source that is a header.
const headerSource = "header:"

// Header returns the name of the header that a source of keys names.
func Header(source string) (name string, ok bool) { return strings.CutPrefix(source, headerSource) }

// Field returns the path of the field that a source of keys names. A source is a field's
// path, header:NAME, or empty for the key of the record or its field input.key.
func Field(source string) (path string, ok bool) {
	if _, header := Header(source); header || source == "" {
		return "", false
	}
	return source, true
}

// Of returns the source of the key of labels.
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
