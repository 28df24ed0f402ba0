package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/quarantine"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// The learner's quarantine is listed by reason, shown, and replayed for a model that can
// read the records.
func TestQuarantineIsListedShownAndReplayed(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in, model := kafkatest.Name("in"), kafkatest.Name("m")
	var values []string
	for i := range 40 {
		values = append(values, fmt.Sprintf(`{"a":%d,"c":"x","y":%d}`, i%7, i%5))
	}
	values = append(values, `{"a":1,"c":7,"y":1}`, `{"a":"one","c":"x","y":1}`, `{"a":2,"c":8.5,"y":1}`)
	kafkatest.Fill(t, client, in, 1, values)
	inDir(t, fmt.Sprintf("model: %s\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s]\n  label: y\nhttp:\n  listen: 'off'\n", model, addr, in))
	accrete := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, nil, args...)
		if code != exit.Done {
			t.Fatalf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		return stdout
	}
	learn := []string{"learn", "-c", "config.yaml", "--to-end", "--set", "learner.max_features=32", "--set", "learner.algorithm=ridge"}
	accrete(learn...)

	list := accrete("quarantine", "list", "-c", "config.yaml", "--json")
	var got []quarantine.Group
	for line := range strings.Lines(list) {
		var g quarantine.Group
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		got = append(got, g)
	}
	if len(got) != 2 || got[0].Reason != `columns: "c" is …, want the text of a category` || got[0].Count != 2 || got[0].Example != `columns: "c" is 8.5, want the text of a category` ||
		got[1].Reason != `columns: "a" is text …, want a number` || got[1].Offset != 1 || got[0].Newest.IsZero() {
		t.Errorf("listed\n%s", list)
	}
	if text := accrete("quarantine", "list", "-c", "config.yaml"); !strings.Contains(text, "COUNT  REPLAYED") || len(strings.Split(strings.TrimSpace(text), "\n")) != 3 {
		t.Errorf("listed\n%s", text)
	}
	for _, args := range [][]string{{"0:2"}, {"2"}, {"--reason", "8.5"}, {}} {
		text := accrete(append([]string{"quarantine", "show", "-c", "config.yaml"}, args...)...)
		if !strings.HasSuffix(text, "\n{\"a\":2,\"c\":8.5,\"y\":1}\n") || !strings.Contains(text, "origin      "+in+"/0 offset 42\n") || !strings.Contains(text, "key         42\n") {
			t.Errorf("%v: shown\n%s", args, text)
		}
	}
	var r quarantine.Record
	if err := json.Unmarshal([]byte(accrete("quarantine", "show", "-c", "config.yaml", "1", "--bytes", "5", "--json")), &r); err != nil || *r.Value != `{"a":…` || r.Size != 25 || *r.Key != "41" || r.Origin != (quarantine.Origin{Topic: in, Partition: 0, Offset: 41}) {
		t.Errorf("shown %+v, %v", r, err)
	}

	replay := []string{"quarantine", "replay", "-c", "config.yaml", "--reason", `"c" is`}
	if text := accrete(append(replay, "--dry-run")...); text != "would send 2 records: 2 to "+in+"\n" {
		t.Error(text)
	}
	if text := accrete(append(replay, "--to", "1")...); text != "sent 1 record: 1 to "+in+"\n" {
		t.Error(text)
	}
	if text := accrete(replay...); text != "sent 1 record: 1 to "+in+"\n1 not sent: replayed before, or copies\n" {
		t.Error(text)
	}
	if text := accrete("quarantine", "list", "-c", "config.yaml", "--reason", `"c" is`, "--json"); !strings.Contains(text, `"count":2,"replayed":2`) {
		t.Error(text)
	}
	// The fix: c is declared, so that a new model takes numbers as categories.
	accrete(append(learn, "--set", "model="+model+"-fixed", "--set", "input.columns=a:numeric,c:category", "--set", "input.batch.size=1")...)
	if text := accrete("quarantine", "list", "-c", "config.yaml", "--set", "model="+model+"-fixed"); !strings.Contains(text, "text …") || strings.Contains(text, `"c"`) {
		t.Error(text)
	}
}

func TestQuarantineRefusesWrongUse(t *testing.T) {
	inDir(t, least)
	for _, args := range [][]string{{"show", "x"}, {"show", "1:"}, {"show", "-1"}, {"replay", "--from", "-1"}, {"replay", "--from", "5", "--to", "4"}, {"replay", "--limit", "-1"}} {
		if code, _, stderr := call(t, nil, append([]string{"quarantine", args[0], "-c", "config.yaml"}, args[1:]...)...); code != exit.Misused {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}

func TestARecordThatCannotBeReplayedSaysWhy(t *testing.T) {
	if got := (quarantine.Record{Incomplete: "value truncated"}).String(); !strings.Contains(got, "not possible: value truncated") || !strings.HasSuffix(got, "null") {
		t.Error(got)
	}
}
