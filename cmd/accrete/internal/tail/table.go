package tail

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
)

// table prints predictions.
type table struct {
	e      *env.Env
	asJSON bool
	redact *record.Redaction
}

// layout has a fixed width for each column, since the rows are not known in advance.
const layout = "%-12s  %-20s  %-16s  %11s  %-16s  %9s  %9s"

func (t *table) header() error {
	if t.asJSON {
		return nil
	}
	return t.e.Print(false, fmt.Sprintf(layout, "TIME", "KEY", "PREDICTION", "PROBABILITY", "LABEL", "LOSS", "STEP"), nil)
}

// shown is a line of JSON.
type shown struct {
	Topic     string          `json:"topic"`
	Partition int             `json:"partition"`
	Offset    int64           `json:"offset"`
	Time      time.Time       `json:"time"`
	Key       *string         `json:"key"`
	Value     json.RawMessage `json:"value"` // null if it is no JSON
}

// prediction is what the table shows of a value.
type prediction struct {
	Prediction    json.RawMessage    `json:"prediction"`
	Probabilities map[string]float64 `json:"probabilities"`
	Score         *float64           `json:"score"` // of novelty
	Label         json.RawMessage    `json:"label"`
	Loss          *float64           `json:"loss"`
	Step          *int64             `json:"step"`
}

// line prints a record.
func (t *table) line(topic string, partition int, r *ingest.Record) error {
	at := time.UnixMilli(r.Time).UTC()
	value, err := record.JSON(r)
	if err != nil {
		value = nil
	}
	if t.asJSON {
		s := shown{Topic: topic, Partition: partition, Offset: r.Offset, Time: at}
		if r.Key != nil {
			key := string(r.Key)
			s.Key = &key
		}
		if json.Valid(value) {
			s.Value = t.redact.Prediction(value)
		}
		return t.e.Print(true, "", s)
	}
	return t.e.Print(false, row(at, r.Key, value), nil)
}

// row returns a line of the table.
func row(at time.Time, key, value []byte) string {
	var p prediction
	if err := json.Unmarshal(value, &p); err != nil || p.Prediction == nil {
		return strings.TrimRight(fmt.Sprintf(layout, at.Format("15:04:05.000"), cell(string(key), 20), "no prediction", "", "", "", ""), " ")
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
	return fmt.Sprintf(layout, at.Format("15:04:05.000"), cell(string(key), 20), cell(name, 16), chance, cell(plain(p.Label), 16), number(p.Loss), step)
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

// cell returns text in at most n characters, without those that would control a terminal.
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
