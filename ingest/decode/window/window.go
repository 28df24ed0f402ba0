// Package window describes columns that are statistics of the earlier records with the same key.
package window

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/options"
	"github.com/accrete-ml/accrete/learner"
)

// Window adds columns to a row: statistics of the earlier records with the same key. The weight
// of a record is halved with each half-life of event time.
type Window struct {
	Key      string   `json:"key"`                // field; empty: the key of the record
	Of       string   `json:"of,omitempty"`       // numeric field for sum, mean and deviation
	Distinct string   `json:"distinct,omitempty"` // field whose different values are counted
	Time     string   `json:"time,omitempty"`     // field with the event time; empty: the timestamp of the record
	Over     []string `json:"over"`               // half-lives, such as 10m, 1h or 7d
	Features []string `json:"features"`           // names of learner.WindowFeature; empty: all but sum whose field is set
	Lateness string   `json:"lateness"`           // maximum lateness of a record that is still added; empty: the longest half-life
	Keys     int      `json:"keys"`               // maximum number of keys; 0: 100,000
}

// defaultKeys is the default of Window.Keys: about 20 MB of memory.
const defaultKeys = 100_000

// options lists the options of w by name.
func (w *Window) options() options.List {
	return options.List{
		options.Text("key", &w.Key), options.Text("of", &w.Of), options.Text("distinct", &w.Distinct), options.Text("time", &w.Time),
		options.Texts("over", &w.Over), options.Texts("features", &w.Features),
		options.Text("lateness", &w.Lateness), options.Number("keys", &w.Keys),
	}
}

// Parse reads the format of String.
func Parse(s string) (w Window, err error) {
	err = w.options().Parse(s, "key=card of=amount over=1h,7d")
	return w, err
}

// Set sets an option by name.
func (w *Window) Set(name string, values []string) error { return w.options().Set(name, values) }

// String returns the options as name=value, separated by spaces.
func (w Window) String() string { return w.options().String() }

// Seconds returns the seconds of a duration in Go's notation, or in days or weeks.
func Seconds(s string) (seconds float64, err error) {
	d, err := time.ParseDuration(s)
	for unit, length := range map[string]float64{"d": 86400, "w": 7 * 86400} {
		if digits, is := strings.CutSuffix(s, unit); is {
			if v, err := strconv.ParseFloat(digits, 64); err == nil && v >= 1e-12 && v <= 1e6 {
				return v * length, nil
			}
		}
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s is not a duration: want a number with a unit, such as 10m, 1h or 7d", strconv.Quote(s))
	}
	return d.Seconds(), nil
}

// Effective returns w with all defaults filled in, or an error if w is invalid.
func (w Window) Effective() (Window, error) {
	if len(w.Over) == 0 || len(w.Over) > learner.MaxWindowHalfLives {
		return w, fmt.Errorf("over: want 1 to %d half-lives, such as [1h, 7d]", learner.MaxWindowHalfLives)
	}
	longest, text := 0.0, ""
	seen := map[float64]bool{}
	for _, over := range w.Over {
		h, err := Seconds(over)
		if err != nil {
			return w, fmt.Errorf("over: %w", err)
		}
		if seen[h] {
			return w, fmt.Errorf("over: duplicate half-life %s", over)
		}
		if seen[h] = true; h > longest {
			longest, text = h, over
		}
	}
	w.Lateness = cmp.Or(w.Lateness, text)
	if w.Lateness != "0s" {
		if _, err := Seconds(w.Lateness); err != nil {
			return w, fmt.Errorf("lateness: %w", err)
		}
	}
	if w.Keys == 0 {
		w.Keys = defaultKeys
	}
	if w.Keys < 1 || w.Keys > learner.MaxWindowKeys {
		return w, fmt.Errorf("keys: %d: want 1 to %d", w.Keys, learner.MaxWindowKeys)
	}
	var err error
	w.Features, err = w.features()
	return w, err
}

// features returns the names of the features in the order of a row.
func (w *Window) features() (names []string, err error) {
	var all []learner.WindowFeature
	for _, name := range w.Features {
		f, err := learner.ParseWindowFeature(name)
		if err != nil {
			return nil, fmt.Errorf("features: %w: want count, sum, mean, deviation, distinct or since", err)
		}
		if w.lacks(f) {
			return nil, fmt.Errorf("features: %s needs the option %s", name, map[bool]string{true: "distinct", false: "of"}[f == learner.WindowDistinct])
		}
		if slices.Contains(all, f) {
			return nil, fmt.Errorf("features: duplicate %s", name)
		}
		all = append(all, f)
	}
	if all == nil {
		for f := learner.WindowCount; f <= learner.WindowSince; f++ {
			if f != learner.WindowSum && !w.lacks(f) {
				all = append(all, f)
			}
		}
	}
	slices.Sort(all)
	for _, f := range all {
		names = append(names, f.String())
	}
	return names, nil
}

// lacks reports whether the feature f needs a field that w does not have.
func (w *Window) lacks(f learner.WindowFeature) bool {
	switch f {
	case learner.WindowDistinct:
		return w.Distinct == ""
	case learner.WindowSum, learner.WindowMean, learner.WindowDeviation:
		return w.Of == ""
	}
	return false
}

// Columns returns the names of the columns that an effective w adds, in the order of
// learner.WindowGroup.To.
func (w *Window) Columns() (names []string) {
	by := "_by_" + cmp.Or(w.Key, "key")
	since := false
	for _, over := range w.Over {
		for _, f := range w.Features {
			switch f {
			case "since":
				since = true
			case "count":
				names = append(names, "count_"+over+by)
			case "distinct":
				names = append(names, w.Distinct+"_distinct_"+over+by)
			default:
				names = append(names, w.Of+"_"+f+"_"+over+by)
			}
		}
	}
	if since {
		names = append(names, "since"+by)
	}
	return names
}
