package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// The configuration that init writes is one that lint accepts and learn learns with.
func TestInitWritesAConfiguration(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in := kafkatest.Name("payments") + ".labelled"
	var values []string
	for i := range 200 {
		amount := fmt.Sprint(i % 17)
		if i%20 == 0 {
			amount = "null"
		}
		values = append(values, fmt.Sprintf(`{"amount":%s,"carrier: x":"%c","row":"r%d","at":"2024-01-%02dT10:00:00Z","is_fraud":%v,"nothing":null,"memo":"paid by card %d at noon"}`, amount, 'a'+i%3, i, 1+i%28, i%4 == 0, i))
	}
	kafkatest.Fill(t, client, in, 1, values)
	inDir(t, "")
	for _, c := range []struct{ args, want string }{
		{"init", "--bootstrap-servers"},
		{"init -b " + addr, in},
		{"init -b " + addr + " -t " + in + " -l nope", "none of 200 records"},
		{"init -b " + addr + " -t no-such-topic", "no-such-topic"},
	} {
		if code, _, stderr := call(t, nil, strings.Fields(c.args)...); code == exit.Done || !strings.Contains(stderr, c.want) || len(lines(stderr)) != 1 {
			t.Errorf("%s: exit code %d: %s, want %s", c.args, code, stderr, c.want)
		}
	}
	if code, stdout, stderr := call(t, nil, "init", "-b", addr, "-t", in); code != exit.Done || !strings.Contains(stdout, "200 labelled of 200") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	b, err := os.ReadFile("accrete.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"amount: numeric # 17 distinct, missing in 10", `"carrier: x": category # 3 distinct`, "row: ignored # looks like an identifier; otherwise category", "at: time # 28 distinct", "nothing: ignored # had no value", "memo: text # 200 distinct values of several words; otherwise category"} {
		if !strings.Contains(strings.Join(strings.Fields(string(b)), " "), line) {
			t.Errorf("no %q in\n%s", line, b)
		}
	}
	if code, _, stderr := call(t, nil, "init", "-b", addr, "-t", in); code == exit.Done || !strings.Contains(stderr, "exists already") {
		t.Errorf("over a file: exit code %d: %s", code, stderr)
	}
	if code, _, stderr := call(t, nil, "init", "-b", addr); code == exit.Done || !strings.Contains(stderr, in) {
		t.Errorf("beside a file, topics are not listed: exit code %d: %s", code, stderr)
	}
	if code, _, stderr := call(t, nil, "learn", "-c", "accrete.yaml", "--to-end", "--set", "http.listen=off", "--set", "learner.algorithm=ridge", "--set", "learner.max_features=32"); code != exit.Done {
		t.Errorf("learn: exit code %d: %s", code, stderr)
	}
}

// Records of another format than JSON are not taken for records without a label.
func TestInitNamesOtherFormats(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	inDir(t, "")
	for value, want := range map[string]string{
		"\x00\x00\x00\x00\x07" + `{"a":1,"y":"p"}`:                                "input.registry.url",
		`{"specversion":"1.0","id":"1","type":"t","source":"s","data":{"y":"p"}}`: "input.format: cloudevents",
	} {
		in := kafkatest.Name("in")
		kafkatest.Fill(t, client, in, 1, []string{value, value})
		for _, label := range []string{"", " -l y"} {
			if code, _, stderr := call(t, nil, strings.Fields("init -b "+addr+" -t "+in+label)...); code == exit.Done || !strings.Contains(stderr, want) {
				t.Errorf("%q%s: exit code %d, %s", value, label, code, stderr)
			}
		}
	}
}

// Labels that are few whole numbers are classes, which the file says and a learner would not assume.
func TestInitTakesFewWholeNumbersForClasses(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	inDir(t, "")
	for name, test := range map[string]struct{ label, want string }{
		"classes":   {"%[1]d", "learner: task: classification # of 2 different whole numbers; remove it if they are values input: topics: [%s] label: y # classification with 2 classes so far"},
		"fractions": {"%[1]d.5", "input: topics: [%s] label: y # regression"},
		"many":      {`"p%[2]d"`, "label: y # classification with 300 classes so far max_classes: 1024 # 300 in 300 labelled records; records with more go to quarantine"},
	} {
		in := kafkatest.Name(name)
		var values []string
		for i := range 300 {
			values = append(values, fmt.Sprintf(`{"a":%d,"y":%s}`, i%17, fmt.Sprintf(test.label, i%2, i)))
		}
		kafkatest.Fill(t, client, in, 1, values)
		code, stdout, stderr := call(t, nil, "init", "-b", addr, "-t", in, "-l", "y", "-o", "-")
		if want := strings.Replace(test.want, "%s", in, 1); code != exit.Done || !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("%s: exit code %d: %s%s, want %s", name, code, stdout, stderr, want)
		}
	}
}

// Inputs are not offered as the label of records that have none.
func TestInitOffersNoInputsAsLabels(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	inDir(t, "")
	for value, want := range map[string]string{
		`{"features":[1,2],"weight":1,"key":"k"}`: "have no field that may be a label: name a topic of labelled records",
		`{"features":{"a":1},"label":null}`:       "have no field that may be a label",
		`{"address":{"city":"Bonn"},"amount":1}`:  "Choose one with --label: amount\n",
		`{"height":1.7,"weight":70}`:              "Choose one with --label: height, weight\n",
	} {
		in := kafkatest.Name("in")
		kafkatest.Fill(t, client, in, 1, []string{value, value})
		if code, _, stderr := call(t, nil, "init", "-b", addr, "-t", in); code == exit.Done || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, want %q", value, code, stderr, want)
		}
	}
	if code, _, stderr := call(t, nil, "init", "-b", addr, "-t", "in", "-m", "a b"); code != exit.Misused || !strings.Contains(stderr, `--model: "a b" is not a valid name for a model`) {
		t.Errorf("the name of a model with a space: exit code %d, %s", code, stderr)
	}
}
