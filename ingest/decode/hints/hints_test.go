package hints

import "testing"

func TestDatesThatAreNoTimes(t *testing.T) {
	for text, want := range map[string]bool{
		"01.02.2024": true, "1/2/24": true, "31-12-2024": true, "2024/02/01": true, "01.02.2024 10:30": true, "1.2.2024T10": true,
		"2024-02-01": false, "1.2": false, "192.168.1.10": false, "1.2.3": false, "12-34/2024": false, "": false, "..": false, "1//24": false, "a.b.2024": false, "555-12-1234": false,
	} {
		if got := otherDate([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
