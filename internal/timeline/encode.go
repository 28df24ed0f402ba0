package timeline

import (
	"encoding/json"
	"math"
)

// encoded is the JSON form of a Timeline. A point is an array, because the names of members would
// make up most of its size.
type encoded struct {
	Every  int64        `json:"every"`
	Points [][6]float64 `json:"points"` // examples, observations, errors in the order of Errors
	Drifts []int64      `json:"drifts,omitempty"`
}

// MarshalJSON encodes t so that UnmarshalJSON restores it exactly.
func (t Timeline) MarshalJSON() ([]byte, error) {
	e := struct {
		Every  int64   `json:"every"`
		Points [][]any `json:"points"`
		Drifts []int64 `json:"drifts,omitempty"`
	}{t.Every, make([][]any, 0, len(t.Points)), t.Drifts}
	for _, p := range t.Points {
		e.Points = append(e.Points, []any{p.Examples, p.Observations, p.Model, p.Linear, p.Majority, p.NoChange})
	}
	return json.Marshal(e)
}

// UnmarshalJSON restores a Timeline. Invalid input results in an empty Timeline and not in an
// error: a history for a plot must not prevent anyone from reading the data that contain it.
func (t *Timeline) UnmarshalJSON(b []byte) error {
	*t = Timeline{}
	var e encoded
	if err := json.Unmarshal(b, &e); err != nil || e.Every < firstEvery || len(e.Points) > MostPoints || len(e.Drifts) > MostDrifts {
		return nil
	}
	read := Timeline{Every: e.Every, Drifts: e.Drifts, Points: make([]Point, 0, len(e.Points))}
	last := int64(0)
	for _, v := range e.Points {
		p := Point{Examples: int64(v[0]), Observations: int64(v[1]), Errors: Errors{float32(v[2]), float32(v[3]), float32(v[4]), float32(v[5])}}
		if v[0] > 1<<53 || p.Examples <= last || v[1] > 1<<53 || p.Observations < 1 {
			return nil
		}
		for _, x := range v[2:] {
			if math.IsInf(float64(float32(x)), 0) {
				return nil
			}
		}
		last = p.Examples
		read.Points = append(read.Points, p)
	}
	*t = read
	return nil
}
