package pipeline

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// The figures of classes are those of the predictions in the topic.
func TestFiguresAreThoseOfThePredictions(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("orders")
	kafkatest.Fill(t, c, in, 1, orders(600))
	cfg, ev := learntest.Config(c, "figures", in)
	cfg = columnsConfig(cfg)
	cfg.BatchSize, cfg.Linger = 600, 10*time.Second
	learnAll(t, cfg)
	learned, ok := learntest.Last[event.Learned](ev)
	if !ok || learned.Counts.Learned != 600 || learned.Figures == nil || learned.Figures.Curve == nil {
		t.Fatalf("%+v", learned)
	}
	meter, classes := ranking.New(true), map[string]int{}
	for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model)) {
		var v struct {
			Prediction    *string
			Label         string
			Probabilities map[string]float64
		}
		if err := json.Unmarshal(r.Value, &v); err != nil {
			t.Fatal(err)
		}
		if _, known := classes[v.Label]; !known {
			classes[v.Label] = len(classes)
		}
		if v.Prediction == nil {
			continue
		}
		p := make([]float64, len(v.Probabilities))
		for name, probability := range v.Probabilities {
			p[classes[name]] = probability
		}
		meter.Add(p, classes[*v.Prediction], classes[v.Label], 1)
	}
	if want := meter.Figures(event.Precision); !reflect.DeepEqual(learned.Figures, want) {
		t.Errorf("%+v, want %+v", learned.Figures, want)
	}
}
