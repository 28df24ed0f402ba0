package times

import (
	"testing"
	"time"
)

// TestParse tests times with and without fractions and zones.
func TestParse(t *testing.T) {
	at := time.Date(2024, 2, 29, 21, 47, 39, 0, time.UTC)
	for _, of := range []struct {
		text string
		want time.Time
	}{
		{"2024-02-29", at.Truncate(24 * time.Hour)},
		{"2024-02-29 21:47", at.Truncate(time.Minute)},
		{"2024-02-29T21:47", at.Truncate(time.Minute)},
		{"2024-02-29T21:47Z", at.Truncate(time.Minute)},
		{"2024-02-29 21:47:39", at},
		{"2024-02-29T21:47:39", at},
		{"2024-02-29T21:47:39Z", at},
		{"2024-02-29 21:47:39Z", at},
		{"2024-02-29T22:47:39+01:00", at},
		{"2024-02-29 16:17:39-05:30", at},
		{"2024-02-29T22:47:39+0100", at},          // Java
		{"2024-02-29T22:47:39.000+0100", at},      // Java
		{"2024-02-29 22:47:39+01", at},            // PostgreSQL
		{"2024-02-29 21:47:39.5+00", at.Add(5e8)}, // PostgreSQL
		{"2024-02-29 21:47:39 UTC", at},           // BigQuery
		{"2024-02-29 21:47:39.123456 UTC", at.Add(123456000)},
		{"2024-02-29 21:47:39 GMT", at},
		{"2024-02-29 22:47:39 +0100", at}, // Ruby
		{"2024-02-29 22:47:39 +01:00", at},
		{"2024-02-29 21:47:39,25", at.Add(25e7)}, // logging of Python
		{"2024-02-29 9:47:39", at.Add(-12 * time.Hour)},
		{"2024-02-29T9:47:39Z", at.Add(-12 * time.Hour)},
		{"0000-01-01", time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		got, ok := Parse([]byte(of.text), true)
		if want := unixSeconds(of.want); !ok || got != want {
			t.Errorf("%q is %v, %v; want %v", of.text, got, ok, want)
		}
	}
}

// TestParseNot tests that Parse rejects other text, and times with an unknown zone.
func TestParseNot(t *testing.T) {
	for _, text := range []string{
		"", "2024", "2024-02-30", "2024-2-29", "2024-02-29 ", "2024-02-29T", "2024-02-29 21", "2024-02-29 21:", "2024-02-29 21:4",
		"2024-02-29 24:00", "2024-02-29 21:47:", "2024-02-29 21:47:39.", "2024-02-29 21:47:60", "2024-02-29 21:47:39 ", "2024-02-29 21:47:39  UTC",
		"2024-02-29 21:47:39 EST", "2024-02-29 21:47:39 CET", "2024-02-29 21:47:39+1", "2024-02-29 21:47:39+25:00", "2024-02-29 21:47:39 PM",
		"2024-02-29_21:47:39", "2024-02-29 21:47.5", "2024-02-291", "2024-02-29x21:47", "+024-02-29", "2024-02-29 21:47:39Z+01:00",
		"2024-02-29T21:47:39.123456789123456789Z00", "2024-02-29 -1:47", "2024-02-29 21:47:39 2024",
	} {
		if got, ok := Parse([]byte(text), true); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// TestParseWithoutZones: models that are older than zones of other forms do not read them.
func TestParseWithoutZones(t *testing.T) {
	for text, want := range map[string]bool{
		"2024-02-29": true, "2024-02-29 21:47": true, "2024-02-29T21:47:39.5": true, "2024-02-29 21:47:39Z": true, "2024-02-29T21:47:39+01:00": true,
		"2024-02-29T21:47Z": false, "2024-02-29 21:47:39 UTC": false, "2024-02-29T21:47:39+0100": false, "2024-02-29 21:47:39+01": false, "2024-02-29 21:47:39 +01:00": false,
	} {
		if _, ok := Parse([]byte(text), false); ok != want {
			t.Errorf("%q is a time: %v", text, ok)
		}
	}
}
