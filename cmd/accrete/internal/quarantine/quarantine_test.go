package quarantine

import "testing"

// Only a selection speaks of a selection.
func TestAnEmptyTopicHasNoRecords(t *testing.T) {
	for reason, want := range map[string]string{"": "m.quarantine has no records", "text": "m.quarantine has no records with such a reason"} {
		if got := (&selection{Reason: reason}).none("m.quarantine"); got != want {
			t.Errorf("--reason %q: %q, want %q", reason, got, want)
		}
	}
}
