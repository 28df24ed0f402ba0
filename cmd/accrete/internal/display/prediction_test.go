package display

import (
	"strings"
	"testing"
	"time"
)

func TestRowsShowEachKindOfPrediction(t *testing.T) {
	at := time.Date(2026, 5, 6, 7, 8, 9, 10e6, time.UTC)
	for _, test := range []struct{ key, value, want string }{
		{"a", `{"prediction":"ok","probabilities":{"fraud":0.25,"ok":0.75},"label":"fraud","loss":1.386294361119,"model":"m","step":17}`, "07:08:09.010|a|ok|0.75|fraud|1.3863|17"},
		{"a", `{"prediction":12.3456789,"label":12,"loss":0.5,"step":1}`, "07:08:09.010|a|12.346|12|0.5|1"},
		{"a", `{"prediction":[1,2.5],"step":1}`, "07:08:09.010|a|1,2.5|1"},
		{"a", `{"prediction":true,"score":0.5,"threshold":0.1,"step":1}`, "07:08:09.010|a|true|0.5|1"},
		{"a", `{"prediction":null,"step":0}`, "07:08:09.010|a|-|0"},
		{"a", `{"x":1}`, "07:08:09.010|a|no prediction"},
		{"a", `nonsense`, "07:08:09.010|a|no prediction"},
		{"\x1b[2J\xff", `{"prediction":"\u0007ok","step":0}`, "07:08:09.010|�[2J�|�ok|0"},
		{strings.Repeat("k", 30), `{"prediction":"` + strings.Repeat("é", 17) + `","step":0}`, "07:08:09.010|" + strings.Repeat("k", 19) + "…|" + strings.Repeat("é", 15) + "…|0"},
	} {
		line := PredictionRow(at, []byte(test.key), []byte(test.value))
		fields := strings.Split(line, "  ")
		var got []string
		for _, f := range fields {
			if f = strings.TrimSpace(f); f != "" {
				got = append(got, f)
			}
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %s", test.value, line, test.want)
		}
	}
}
