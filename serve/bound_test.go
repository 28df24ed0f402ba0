package serve_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// TestScorerWritesAnswersToRecordsOfAnySize scores records that are too large for
// the output topics, as copies in quarantine or with their keys and headers.
func TestScorerWritesAnswersToRecordsOfAnySize(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	w.learn(t, w.in)
	kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 10, none))
	big := bytes.Repeat([]byte("abcdefgh"), 12<<20/8)
	squeezed := kafkatest.ClientOf(t, w.addr, func(c *ingest.Config) { c.Compression = ingest.Gzip })
	good := []byte(rings(2, 1, none)[0])
	hard := []ingest.Record{
		{Value: big},
		{Value: big[:1<<20-100]},
		{Key: big, Value: []byte("no"), Headers: []ingest.Header{{Key: "h", Value: big}}},
		{Key: big, Value: good, Headers: []ingest.Header{{Key: "traceparent", Value: big}}},
	}
	if err := squeezed.Producer().Publish(t.Context(), w.asked, 0, hard); err != nil {
		t.Fatal(err)
	}
	kafkatest.Fill(t, w.client, w.asked, 1, rings(3, 10, none))
	for range 2 {
		if err := w.scorer(true).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	scores := kafkatest.Read(t, w.client, model.ScoresTopic(w.model))
	if q := kafkatest.Read(t, w.client, model.QuarantineTopic(w.model)); len(scores) != 21 || len(q) != 3 {
		t.Errorf("%d scores, %d in quarantine", len(scores), len(q))
	}
	if h := kafkatest.Header(scores[10], "accrete.truncated.key"); !strings.HasPrefix(h, "12582912 sha256=") {
		t.Errorf("the key of 12 MiB: %q", h)
	}
}

// TestScoresHaveTheKeyThatTheConfigurationNames: the key is that of input.key, or
// else of the record.
func TestScoresHaveTheKeyThatTheConfigurationNames(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	w.learn(t, w.in)
	kafkatest.Fill(t, w.client, w.asked, 1, []string{rings(2, 1, none)[0], `{"key":"\u0061b",` + rings(2, 1, none)[0][1:]})
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	scores := kafkatest.Read(t, w.client, model.ScoresTopic(w.model))
	if len(scores) != 2 || string(scores[0].Key) != "0" || string(scores[1].Key) != "ab" {
		t.Errorf("%v", scores)
	}
	if kafkatest.Header(scores[0], "ce_sequence") != "" {
		t.Error("a score is in no BATCH")
	}
}

// TestPredictionKeepsTheLikeliestOfTooManyClasses checks that the probabilities are
// in the order of the classes and that the number of omitted ones is given.
func TestPredictionKeepsTheLikeliestOfTooManyClasses(t *testing.T) {
	const n = 5000
	var classes []string
	row := make([]float64, n)
	for i := range row {
		classes = append(classes, fmt.Sprintf(`"class" %d of them all, with a long name`, i))
		row[i] = float64(i*7919%n) / n
	}
	row[4000] = 2 // the predicted class
	for _, limit := range []int{record.MinMessageBytes, ingest.DefaultMaxMessageBytes} {
		e := record.NewEncoder(record.ModelID{Name: "m"}, classes, limit)
		r := e.Record(record.Example{
			Topic: "in", Record: &ingest.Record{Headers: []ingest.Header{{Key: "traceparent", Value: make([]byte, 600)}}}, Key: make([]byte, 2*limit),
			Label: learner.Label{Task: learner.Classification, Class: 1}, LabelName: classes[1],
		}, learner.Classification, row)
		var v struct {
			Prediction    string
			Probabilities map[string]float64
			Truncated     int `json:"probabilities_truncated"`
			Label         string
		}
		if err := json.Unmarshal(r.Value, &v); err != nil {
			t.Fatal(err)
		}
		sorted := slices.Clone(row)
		slices.Sort(sorted)
		if r.Size() > limit || v.Prediction != classes[4000] || v.Label != classes[1] || len(v.Probabilities)+v.Truncated != n || len(v.Probabilities) < limit/2/150 && len(v.Probabilities) < 64<<10/150 {
			t.Errorf("limit %d: %d bytes, %d probabilities and %d", limit, r.Size(), len(v.Probabilities), v.Truncated)
		}
		last := -1
		for i, c := range classes {
			p, ok := v.Probabilities[c]
			if ok != (row[i] >= sorted[v.Truncated]) || ok && p != row[i] {
				t.Fatalf("limit %d: probability %v of %q is %v, %v", limit, row[i], c, p, ok)
			}
			if at := strings.Index(string(r.Value), fmt.Sprintf(`\"class\" %d of them all, with a long name":`, i)); ok && at < last {
				t.Fatalf("%q is out of order", c)
			} else if ok {
				last = at
			}
		}
	}
}

// TestRecordsBecomeSmallerUntilTheTopicTakesThem writes records that were encoded
// for a topic with a larger limit.
func TestRecordsBecomeSmallerUntilTheTopicTakesThem(t *testing.T) {
	c, name := kafkatest.Client(t), kafkatest.Name("m")
	predictions, quarantine := model.PredictionsTopic(name), model.QuarantineTopic(name)
	for _, topic := range []string{predictions, quarantine} {
		if err := c.Create(t.Context(), topic, 1, map[string]string{"max.message.bytes": "5000"}); err != nil {
			t.Fatal(err)
		}
		if _, err := record.OutputTopic(t.Context(), c, topic); !errors.Is(err, record.ErrOutput) {
			t.Errorf("%v", err)
		}
	}
	var classes []string
	row := make([]float64, 400)
	for i := range row {
		classes = append(classes, fmt.Sprintf(`c},"%d`, i))
		row[i] = 1. / 3
	}
	const limit = ingest.DefaultMaxMessageBytes
	e := record.NewEncoder(record.ModelID{Name: name}, classes, limit)
	huge := ingest.Record{Key: make([]byte, 200_000), Value: make([]byte, 2<<20), Headers: []ingest.Header{{Key: "a", Value: make([]byte, 1<<20)}, {Key: "b", Value: []byte("b")}}}
	small := ingest.Record{Offset: 1, Value: []byte("small")}
	for _, at := range []string{predictions, quarantine} {
		p := c.Producer()
		p.Smaller = record.Smaller(quarantine)
		rs := []ingest.Record{
			e.Record(record.Example{Topic: "in", Record: &huge, Key: huge.Key}, learner.Classification, row),
			e.Record(record.Example{Topic: "in", Record: &small}, learner.Classification, row[:1]),
		}
		if at == quarantine {
			rs = []ingest.Record{record.Quarantined("in", 0, &huge, errors.New("bad"), record.ValuesFull, nil, limit), record.Quarantined("in", 0, &small, errors.New("bad"), record.ValuesFull, nil, limit)}
		}
		if err := p.Publish(t.Context(), at, 0, rs); err != nil {
			t.Fatal(err)
		}
		got := kafkatest.Read(t, c, at)
		if len(got) != 2 || got[0].Size() > 5000 || !strings.HasPrefix(kafkatest.Header(got[0], "accrete.truncated.key"), "200000 ") {
			t.Fatalf("%d records: %.500v", len(got), got)
		}
		if at == quarantine {
			if h := kafkatest.Header(got[0], "accrete.truncated.value"); !strings.HasPrefix(h, "2097152 ") || kafkatest.Header(got[0], "b") != "b" || kafkatest.Header(got[0], "__connect.errors.exception.message") != "bad" {
				t.Errorf("%.500v", got[0])
			}
			continue
		}
		var v struct {
			Prediction    string
			Probabilities map[string]float64
			Truncated     int `json:"probabilities_truncated"`
		}
		if err := json.Unmarshal(got[0].Value, &v); err != nil || v.Prediction != classes[0] || v.Probabilities != nil || v.Truncated != 400 {
			t.Errorf("%s: %v", got[0].Value, err)
		}
	}
}

// TestReasonIsShortText tries errors with long texts and invalid UTF-8.
func TestReasonIsShortText(t *testing.T) {
	for _, s := range []string{"short", strings.Repeat("ü", 10_000), "x" + strings.Repeat("ü", 10_000), "bad \xff text", strings.Repeat("\xff\x80a", 10_000), strings.Repeat("\x80", 10_000)} {
		got := record.Reason(errors.New(s))
		if len(got) > 4<<10 || !utf8.ValidString(got) || utf8.ValidString(s) && !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
			t.Errorf("%.20q became %q", s, got)
		}
	}
}
