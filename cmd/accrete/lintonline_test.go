package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// lint --online tells before a learner runs what it would make of the records, and
// afterwards how the model reads them.
func TestLintOnlineSaysHowRecordsWouldBeRead(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in, model := kafkatest.Name("in"), kafkatest.Name("m")
	var values []string
	for i := range 300 {
		switch {
		case i%50 == 49:
			values = append(values, fmt.Sprintf(`{"a":"text %d","c":"x","id":1,"y":1}`, i))
		case i%100 == 48:
			values = append(values, fmt.Sprintf(`{"a":1,"c":%d,"id":1,"y":1}`, i))
		default:
			values = append(values, fmt.Sprintf(`{"a":%d,"c":"v%d","id":%d,"y":%d}`, i%7, i%40, i, i%5))
		}
	}
	kafkatest.Fill(t, client, in, 1, values)
	inDir(t, fmt.Sprintf("model: %s\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s]\n  label: y\nhttp:\n  listen: 'off'\nlearner:\n  algorithm: ridge\n  max_features: 32\n", model, addr, in))
	lint := func(code int, wants []string, args ...string) {
		t.Helper()
		got, stdout, stderr := call(t, nil, append([]string{"lint", "-c", "config.yaml", "--online"}, args...)...)
		if got != code {
			t.Errorf("exit code %d, want %d: %s", got, code, stderr)
		}
		for _, want := range wants {
			if !strings.Contains(stdout, want) {
				t.Errorf("%v: no %q in\n%s", args, want, stdout)
			}
		}
	}
	rejected := []string{
		`     6  columns: "a" is text …, want a number`,
		`     3  columns: "c" is …, want the text of a category`,
		"a       numeric   0        7         number",
	}
	lint(exit.Done, append(rejected,
		"ok       input topic "+in+": 1 partition, 300 offsets",
		"ok       topic "+model+".log does not exist yet and will be created",
		"sampled  300 of the oldest records, which a new model learns first: 291 labelled, 9 would go to quarantine",
		"labels   5 different whole numbers, read as values: if they are classes, set learner.task to classification",
		"c       category  0        40        target statistic and log frequency"))
	lint(exit.Done, []string{
		`{"sample":{"of":"oldest records, which a new model learns first","records":100,"labelled":97,"rejected":3,"task":"regression","like_classes":5}}`,
		`{"quarantine":{"reason":"columns: \"a\" is text …, want a number","count":2,"example":"columns: \"a\" is text \"text 49\", want a number"}}`,
	}, "--json", "--sample", "100")
	lint(exit.Done, []string{
		"warning  none of the sampled records has another weight than 1: correct input.weight (noweight)",
	}, "--set", "input.weight=noweight")
	lint(exit.Refused, []string{"problem  unknown topic"}, "--set", "input.topics=absent")
	long := kafkatest.Name("in") // a common way to say that records are kept for ever
	if err := client.Create(t.Context(), long, 1, map[string]string{"retention.ms": "9223372036854775807"}); err != nil {
		t.Fatal(err)
	}
	lint(exit.Done, []string{"ok       input topic " + long + ": 1 partition, 0 offsets, retention 106751991167 d"}, "--set", "input.topics="+long)
	lint(exit.Done, []string{"ok       input topic " + in + ":", "ok       scored topic " + long + ": 1 partition, 0 offsets"}, "--set", "score.topics="+long)
	kept := kafkatest.Name("m")
	if err := client.Create(t.Context(), kept+".log", 1, map[string]string{"retention.ms": "-1", "retention.bytes": "1000000"}); err != nil {
		t.Fatal(err)
	}
	lint(exit.Refused, []string{"problem  the model log is broken: \"" + kept + ".log\" does not retain its records: retention.bytes is 1000000; set it to -1: kafka-configs --alter"}, "--set", "model="+kept)
	small := map[string]string{"retention.ms": "-1", "retention.bytes": "-1", "max.message.bytes": "100000"}
	if err := client.Create(t.Context(), model+"2.log", 1, small); err != nil {
		t.Fatal(err)
	}
	lint(exit.Refused, []string{"problem  model log " + model + "2.log may not accept snapshots: set max.message.bytes to at least 720896 (it is 100000)"}, "--set", "model="+model+"2")
	if err := client.Create(t.Context(), model+"3.predictions", 1, map[string]string{"max.message.bytes": "1000"}); err != nil {
		t.Fatal(err)
	}
	lint(exit.Refused, []string{"problem  topic " + model + "3.predictions accepts records of 1000 bytes at most: set max.message.bytes to at least 32768"}, "--set", "model="+model+"3")
	if !testing.Short() { // the log may be about to get its first snapshot, for which commands wait ten seconds
		if err := client.Create(t.Context(), model+".log", 1, map[string]string{"retention.ms": "-1", "retention.bytes": "-1"}); err != nil {
			t.Fatal(err)
		}
		lint(exit.Done, []string{"ok       model log " + model + ".log: retention unlimited", "sampled  300 of the oldest records"})
	}

	if code, _, stderr := call(t, nil, "learn", "-c", "config.yaml", "--to-end"); code != exit.Done {
		t.Fatal(stderr)
	}
	lint(exit.Refused, []string{"problem  more than half of the sampled records would go to quarantine"}, "--set", "model="+model+"4", "--set", "input.columns=nowhere:numeric")
	lint(exit.Refused, []string{"problem  options", "learner.seed is"}, "--set", "learner.seed=2")
	kafkatest.Fill(t, client, model+"-other", 1, []string{"{}"})
	lint(exit.Refused, []string{"problem  history does not match: the model has learned from"}, "--set", "input.topics="+model+"-other")
	if _, stdout, _ := call(t, nil, "lint", "-c", "config.yaml", "--online"); strings.Contains(stdout, "read as values") {
		t.Errorf("a model that exists is told what its labels look like:\n%s", stdout)
	}
	lint(exit.Done, append(rejected,
		"ok       model log "+model+".log: retention unlimited",
		"sampled  300 of the newest records, as the model reads them at step",
		"c       category  0        40        target statistic and log frequency"))
}

// Labels of other records are no examples, in a topic of their own or among them.
func TestLintOnlineReadsLabelsThatComeLater(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	for _, alone := range []bool{false, true} {
		in, outcomes := kafkatest.Name("in"), ""
		var rows, labels []string
		for i := range 60 {
			rows = append(rows, fmt.Sprintf(`{"id":"k%d","a":%d}`, i, i%7))
			labels = append(labels, fmt.Sprintf(`{"id":"k%d","y":"c%d"}`, i, i%2))
		}
		labels[3] = `{"id":"k3","y":{}}`
		if alone {
			outcomes = ", topic: " + in + "-outcomes"
			kafkatest.Fill(t, client, in+"-outcomes", 1, labels)
		} else {
			rows = append(rows, labels...)
		}
		kafkatest.Fill(t, client, in, 1, rows)
		inDir(t, fmt.Sprintf("model: %s-m\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s]\n  label: y\n  labels: {ttl: 24h, key: id%s}\nhttp:\n  listen: 'off'\n", in, addr, in, outcomes))
		got, stdout, stderr := call(t, nil, "lint", "-c", "config.yaml", "--online")
		if want := "sampled  120 of the oldest records, which a new model learns first: 0 labelled, 59 labels of other records, 1 would go to quarantine"; got != exit.Done || !strings.Contains(stdout, want) {
			t.Errorf("%d %s: no %q in\n%s", got, stderr, want, stdout)
		}
	}
}

// The rows of a sample have the same columns, also where a learner would adopt more.
func TestLintOnlineReadsWhatALearnerWouldAdopt(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in := kafkatest.Name("in")
	var values []string
	for i := range 300 {
		v := fmt.Sprintf(`{"a":%d,"y":"c%d"`, i%7, i%2)
		if i >= 10 {
			v += fmt.Sprintf(`,"z":%d`, i%5)
		}
		values = append(values, v+"}")
	}
	kafkatest.Fill(t, client, in, 1, values)
	inDir(t, fmt.Sprintf("model: %s-m\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s]\n  label: y\n  on_change: adopt\nhttp:\n  listen: 'off'\n", in, addr, in))
	got, stdout, stderr := call(t, nil, "lint", "-c", "config.yaml", "--online")
	if want := "sampled  300 of the oldest records, which a new model learns first: 300 labelled, 0 would go to quarantine"; got != exit.Done || !strings.Contains(stdout, want) {
		t.Errorf("%d %s: no %q in\n%s", got, stderr, want, stdout)
	}
}

// lint --online reads the topics of tables, and enriches the sample as a learner does.
func TestLintOnlineReadsTables(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in, rows, model := kafkatest.Name("in"), kafkatest.Name("customers"), kafkatest.Name("m")
	kafkatest.Fill(t, client, in, 1, []string{`{"id":"a","amount":1,"y":1}`, `{"id":"b","amount":2,"y":2}`})
	kafkatest.Fill(t, client, rows, 1, nil)
	err := client.Producer().Publish(t.Context(), rows, 0, []ingest.Record{
		{Key: []byte("a"), Value: []byte(`{"tier":"gold"}`)}, {Key: []byte("b"), Value: []byte(`{"tier":`)}, {Key: []byte("c"), Value: []byte(`{"tier":"new"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	inDir(t, fmt.Sprintf("model: %s\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s]\n  label: y\n  tables:\n    - {topic: %s, as: customers, key: id, fields: [tier]}\n", model, addr, in, rows))
	code, stdout, stderr := call(t, nil, "lint", "-c", "config.yaml", "--online")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	for _, want := range []string{
		"topic " + rows + ", of a table: ",
		"warning  table customers: 2 rows, and 1 records that are no rows\n",
		"2 labelled, 0 would go to quarantine",
		"customers.tier  category  1        1 ",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	code, stdout, _ = call(t, nil, "lint", "-c", "config.yaml", "--online", "--set", "input.tables=topic=absent key=id fields=tier")
	if code != exit.Refused || !strings.Contains(stdout, "problem  unknown topic") {
		t.Errorf("exit code %d for a table without a topic:\n%s", code, stdout)
	}
}

// What is wrong with the connection is one problem, and not one of each topic.
func TestLintOnlineReportsARefusedConnectionOnce(t *testing.T) {
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "admin", "admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("e30.e30."), 0o600); err != nil {
		t.Fatal(err)
	}
	inDir(t, fmt.Sprintf("model: m\nkafka:\n  bootstrap.servers: %s\n  security.protocol: SASL_PLAINTEXT\n  sasl.mechanism: OAUTHBEARER\n  sasl.oauthbearer.token.endpoint.url: file://%s\ninput:\n  topics: [in]\n  label: y\n", k.ListenAddrs()[0], token))
	code, stdout, stderr := call(t, nil, "lint", "-c", "config.yaml", "--online")
	if code != exit.Refused || strings.Count(stdout, "does not support sasl.mechanism") != 1 || !strings.Contains(stderr, "the cluster has 1 problem") {
		t.Errorf("exit code %d: %s\n%s", code, stderr, stdout)
	}
}
