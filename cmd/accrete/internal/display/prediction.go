package display

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// predictionLayout has a fixed width for each column, since the rows are not known in advance.
const predictionLayout = "%-12s  %-20s  %-16s  %11s  %-16s  %9s  %9s"

// PredictionHeader returns the names of the columns of PredictionRow.
func PredictionHeader() string {
	return fmt.Sprintf(predictionLayout, "TIME", "KEY", "PREDICTION", "PROBABILITY", "LABEL", "LOSS", "STEP")
}

// prediction holds the members of a prediction that the table shows.
type prediction struct {
	Prediction    json.RawMessage    `json:"prediction"`
	Probabilities map[string]float64 `json:"probabilities"`
	Score         *float64           `json:"score"` // of novelty
	Label         json.RawMessage    `json:"label"`
	Loss          *float64           `json:"loss"`
	Step          *int64             `json:"step"`
}

// PredictionRow returns a prediction as a line of a table. Value is JSON.
func PredictionRow(at time.Time, key, value []byte) string {
	var p prediction
	if err := json.Unmarshal(value, &p); err != nil || p.Prediction == nil {
		return strings.TrimRight(fmt.Sprintf(predictionLayout, at.Format("15:04:05.000"), cell(string(key), 20), "no prediction", "", "", "", ""), " ")
	}
	name := plain(p.Prediction)
	chance, step := "", ""
	if v, ok := p.Probabilities[name]; ok {
		chance = number(&v)
	} else if p.Score != nil {
		chance = number(p.Score)
	}
	if p.Step != nil {
		step = strconv.FormatInt(*p.Step, 10)
	}
	return fmt.Sprintf(predictionLayout, at.Format("15:04:05.000"), cell(string(key), 20), cell(name, 16), chance, cell(plain(p.Label), 16), number(p.Loss), step)
}

// plain returns a JSON value as text: a string without quotes, numbers in five digits, the
// elements of an array with commas between them, and null as "-".
func plain(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return ""
	}
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return v
	case float64:
		return number(&v)
	case []any:
		var all []string
		for _, x := range v {
			if f, ok := x.(float64); ok {
				all = append(all, number(&f))
			}
		}
		return strings.Join(all, ",")
	}
	return string(raw)
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 5, 64)
}

// cell returns s in at most n characters. Characters that are not printable, and could control a
// terminal, are replaced.
func cell(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
