package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/internal/synth"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

func TestRowsBeforeABadOneAreWritten(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"feed", "-", "--set", "model=m", "--set", "kafka.bootstrap.servers=" + b.Addr(),
		"--set", "input.topics=in", "--set", "input.label=y"}, nil, strings.NewReader("a,y\n1,p\n2,q\n3\n4,p\n"), &stdout, &stderr)
	if want := "accrete: after 2 records: standard input, line 4: "; code != exit.Failed || !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("exit code %d, and %q", code, &stderr)
	}
	c, err := ingest.New(ingest.Config{Brokers: []string{b.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, end, err := c.Offsets(t.Context(), "in"); err != nil || end[0] != 2 {
		t.Errorf("the topic ends at %v, %v; want 2 records", end, err)
	}
}

func TestDemoRowsWithoutALabel(t *testing.T) {
	for label, want := range map[string]string{"y": `},"y":"`, "": `}}`} {
		row, err := (&demoRows{stream: synth.Stream{Seed: 1}, label: label}).next()
		if err != nil || !json.Valid(row) || !strings.Contains(string(row), want) {
			t.Errorf("label %q: %s, %v", label, row, err)
		}
	}
}

// Rows that every learner would send to quarantine are reported by feed, which
// knows the file and the line.
func TestFeedRefusesWhatALearnerWould(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	feed := func(rows string, set ...string) (code int, stdout, stderr string) {
		args := []string{"feed", "-", "--set", "model=m", "--set", "kafka.bootstrap.servers=" + b.Addr(), "--set", "input.topics=in", "--set", "input.label=y"}
		for _, s := range set {
			args = append(args, strings.Fields(s)...)
		}
		var out, problems bytes.Buffer
		code = run(t.Context(), args, nil, strings.NewReader(rows), &out, &problems)
		return code, out.String(), problems.String()
	}
	const rows = "a,b,y\n1,2,p\n2,far,q\n3,4,p\n"
	const numeric = "--set input.columns=a:numeric,b:numeric"
	if code, _, why := feed(rows, numeric); code != exit.Failed || !strings.HasPrefix(why, `accrete: after 1 record: standard input, line 3: columns: "b" is text "far"`) {
		t.Errorf("exit code %d, and %q", code, why)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(rows))
	z.Close()
	for _, f := range []struct{ rows, want string }{
		{"a,b\n1,2\n", `no column "y"`},
		{"a,b,y\n1,2,p\n{\"a\":1}\n", "--skip-bad"},
		{`{"a":1,"y":2}` + "\na,b,c\n", "--skip-bad"},
		{"a,b,y\n1,2,p,4\n", "4 cells, but the header has 3"},
		{"a,b,y\n1,2,\"p\n", "quote"},
		{"a,a,y\n1,2,p\n", "two columns"},
		{zipped.String()[:zipped.Len()/2], "truncated"},
		{zipped.String()[:5], "truncated"},
		{"\x89ACRT\r\n\x1a", "snapshot"},
		{"a\x00b,y\n", "binary"},
		{"", "empty"},
	} {
		if code, said, why := feed(f.rows); code != exit.Failed && code != exit.Misused || said != "" || strings.Count(why, "\n") != 1 || !strings.Contains(why, f.want) {
			t.Errorf("%q: exit code %d, %q, and %q, want %s", f.rows, code, said, why, f.want)
		}
	}
	if code, said, _ := feed(rows, numeric, "--skip-bad"); code != exit.Done || !strings.HasPrefix(said, "2 records to in in ") || !strings.Contains(said, ", 1 row skipped\nskipped: 1 row of standard input, first in line 3: columns: \"b\" is text …, want") {
		t.Errorf("with --skip-bad: exit code %d, and %q", code, said)
	}
	if code, said, why := feed(rows, "--set input.columns=a", "--set input.unknown=ignore"); code != exit.Done || !strings.HasPrefix(said, "3 records") {
		t.Errorf("without that column: exit code %d, %q, %q", code, said, why)
	}
	const numbers = "a,y\n1,0\n2,1\n"
	if code, _, why := feed(numbers); code != exit.Done || !strings.Contains(why, "learner.task is classification") {
		t.Errorf("labels 0 and 1: exit code %d, %q", code, why)
	}
	if code, _, why := feed(numbers, "--set learner.task=classification"); code != exit.Done || why != "" {
		t.Errorf("labels 0 and 1 that name classes: exit code %d, %q", code, why)
	}
}

// With --unlabelled no record has a label, wherever the file has them, so that a learner does not learn
// what is to be predicted only.
func TestUnlabelledRowsHaveNoLabels(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c, err := ingest.New(ingest.Config{Brokers: []string{b.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, test := range []struct{ label, rows, want string }{
		{"y", "a,y,b\n1,p,2\n", `{"features":{"a":1,"b":2}}`},
		{"y", "a,b\n1,2\n", `{"features":{"a":1,"b":2}}`},
		{"y,z", "a,y,z\n1,2,3\n", `{"features":{"a":1}}`},
		{"is:fraud", `{"a": 1.50, "is:fraud": true}`, `{"a":1.50}`},
		{"y", `{"features": {"a": 1}, "y": "p"}`, `{"features":{"a":1}}`},
		{"out.y", `{"a": 1, "out": {"y": "p"}}`, `{"a":1,"out":{}}`},
	} {
		topic := fmt.Sprint("in", i)
		args := []string{"feed", "-", "--unlabelled"}
		for _, set := range []string{"model=m", "kafka.bootstrap.servers=" + b.Addr(), "input.topics=" + topic, "input.label=" + test.label} {
			args = append(args, "--set", set)
		}
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, nil, strings.NewReader(test.rows), &stdout, &stderr); code != exit.Done {
			t.Errorf("%s of %q: exit code %d, %s", test.label, test.rows, code, &stderr)
			continue
		}
		if rs := kafkatest.Read(t, c, topic); len(rs) != 1 || string(bytes.ReplaceAll(rs[0].Value, []byte(" "), nil)) != test.want {
			t.Errorf("%s of %q: %s, want %s", test.label, test.rows, rs[0].Value, test.want)
		}
	}
	args := []string{"feed", "-", "--unlabelled", "--topic", "outcomes"}
	for _, set := range []string{"model=m", "kafka.bootstrap.servers=" + b.Addr(), "input.topics=in", "input.label=y", "input.labels.topic=outcomes", "input.labels.ttl=1h"} {
		args = append(args, "--set", set)
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, nil, strings.NewReader("y\np\n"), &stdout, &stderr); code != exit.Misused || !strings.Contains(stderr.String(), "the topic of the labels") {
		t.Errorf("the topic of the labels: exit code %d, %s", code, &stderr)
	}
}

// Rows do not go to the topics that the model writes, such as its log.
func TestFeedDoesNotWriteTheModelsTopics(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, topic := range []string{"m.log", "m.predictions", "m.quarantine", "m.released", "m.heartbeats", "scored", "answers", "other.log", "tried"} {
		var stdout, stderr bytes.Buffer
		args := []string{"feed", "-", "--topic", topic}
		for _, set := range []string{"model=m", "kafka.bootstrap.servers=" + b.Addr(), "input.topics=in", "input.label=y", "score.topics=rows", "score.output=scored", "requests.topic=answers", "score.canary.model=other", "score.canary.output=tried"} {
			args = append(args, "--set", set)
		}
		code := run(t.Context(), args, nil, strings.NewReader("a,y\n1,p\n"), &stdout, &stderr)
		if want := "accrete: --topic " + topic + ": "; code != exit.Misused || !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("%s: exit code %d, %q", topic, code, &stderr)
		}
	}
	c, err := ingest.New(ingest.Config{Brokers: []string{b.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if topics, err := c.Topics(t.Context()); err != nil || len(topics) > 0 {
		t.Errorf("topics %v, %v; want none", topics, err)
	}
}

// A registry that does not take the schema of the rows is no error of the rows, which --skip-bad would
// skip all.
func TestFeedEndsIfTheSchemaIsRefused(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error_code":40401,"message":"Subject not found"}`)
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error_code":40301,"message":"read only"}`)
		}
	}))
	defer registry.Close()
	var stdout, stderr bytes.Buffer
	args := []string{"feed", "-", "--skip-bad"}
	for _, set := range []string{"model=m", "kafka.bootstrap.servers=" + b.Addr(), "input.topics=in", "input.label=y", "input.format=avro", "input.registry.url=" + registry.URL} {
		args = append(args, "--set", set)
	}
	code := run(t.Context(), args, nil, strings.NewReader("a,y\n1,p\n2,q\n3,p\n"), &stdout, &stderr)
	if want := "accrete: cannot register the schema of in-value: the schema registry refuses the request"; code != exit.Failed || !strings.HasPrefix(stderr.String(), want) || stdout.Len() > 0 {
		t.Errorf("exit code %d, %q and %q", code, &stdout, &stderr)
	}
}
