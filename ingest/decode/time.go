package decode

import "time"

// timeLayouts are the texts that are read as a time; without a zone it is UTC.
var timeLayouts = []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"}

// parseTime returns the seconds since 1970 of a time from the year 0 to 9999.
func parseTime(b []byte) (seconds float64, ok bool) {
	if len(b) < len("2006-01-02") || len(b) > maxTimeBytes || b[4] != '-' || b[0]-'0' > 9 {
		return 0, false
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, string(b)); err == nil {
			return unixSeconds(t), true
		}
	}
	return 0, false
}
