package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// fortyRecords writes 40 records to a topic of their own, and returns a model's name and the
// configuration to learn it from them.
func fortyRecords(t *testing.T) (client *ingest.Client, model, config string) {
	t.Helper()
	addr := kafkatest.Addr(t)
	client = kafkatest.ClientOf(t, addr, nil)
	in, model := kafkatest.Name("in"), kafkatest.Name("m")
	var values []string
	for i := range 40 {
		values = append(values, fmt.Sprintf(`{"a":%d,"y":%d}`, i%7, i%5))
	}
	kafkatest.Fill(t, client, in, 1, values)
	return client, model, fmt.Sprintf("model: %s\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s]\n  label: y\nlearner: {algorithm: ridge, max_features: 32}\nhttp:\n  listen: 'off'\n", model, addr, in)
}

// The predictions of a learner are shown, those that are there and those to come.
func TestTailShowsPredictionsAsTheyAreWritten(t *testing.T) {
	client, model, config := fortyRecords(t)
	inDir(t, config)
	if code, _, stderr := call(t, nil, "tail", "-c", "config.yaml", "--to-end"); code != exit.Refused || !strings.Contains(stderr, model+".predictions") {
		t.Errorf("without a topic: exit code %d: %s", code, stderr)
	}
	if code, _, stderr := call(t, nil, "learn", "-c", "config.yaml", "--to-end"); code != exit.Done {
		t.Fatal(stderr)
	}
	code, stdout, stderr := call(t, nil, "tail", "-c", "config.yaml", "--to-end", "--last", "3")
	if got := lines(stdout); code != exit.Done || len(got) != 4 || !strings.HasPrefix(got[0], "TIME ") || !strings.Contains(got[3], " 39 ") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	_, stdout, _ = call(t, nil, "tail", "-c", "config.yaml", "--to-end", "--last", "1000", "--json")
	var last struct {
		Offset int64
		Key    string
		Value  struct{ Label float64 }
	}
	if got := lines(stdout); len(got) != 40 || json.Unmarshal([]byte(got[39]), &last) != nil || last.Offset != 39 || last.Key != "39" || last.Value.Label != 4 {
		t.Errorf("%+v of\n%s", last, stdout)
	}

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var out, log output
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"tail", "-c", "config.yaml", "--last", "0"}, nil, &bytes.Buffer{}, &out, &log)
	}()
	for !strings.Contains(out.String(), "TIME") && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	next := ingest.Record{Time: 1, Key: []byte("later"), Value: []byte(`{"prediction":"new","step":1}`)}
	if err := client.Producer().Publish(ctx, model+".predictions", 0, []ingest.Record{next}); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(out.String(), "later") && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	stop()
	if code := <-ended; code != exit.Done || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("exit code %d\n%s%s", code, out.String(), log.String())
	}
}
