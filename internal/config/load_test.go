package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// least is a minimal configuration file.
const least = `model: fraud
kafka:
  bootstrap.servers: localhost:9092
input:
  topics: [payments.labelled]
  label: is_fraud
`

// load writes the text to config.yaml in a new directory and loads it from
// there.
func load(t *testing.T, text string, environ, set []string) (*Config, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("config.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Sources{File: "config.yaml", Environ: environ, Set: set})
}

func TestFourLinesAreEnough(t *testing.T) {
	c, err := load(t, least, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Model != "fraud" || c.Input.Label.String() != "is_fraud" || c.Kafka.Servers[0] != "localhost:9092" || c.Input.Topics[0] != "payments.labelled" {
		t.Errorf("loaded %+v", c)
	}
	if c.Learner.MaxFeatures != 4096 || time.Duration(c.Snapshot.Every) != time.Minute || c.Snapshot.History != 2<<30 || c.Score.Output != "fraud.scores" || c.Input.Columns != nil {
		t.Errorf("defaults are not in effect: %+v", c)
	}
}

// --set names the option that it sets, which is not repeated.
func TestAMistakeOfSetNamesTheOptionOnce(t *testing.T) {
	_, err := load(t, least, nil, []string{"input.lags=2", "learner.kernel.metric=m.json"})
	const want = "--set learner.kernel.metric: cannot be combined with input.lags: the metric is for the inputs of one record"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestEveryMistakeIsOneClearLine(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, test := range []struct{ text, want string }{
		{"", `config.yaml: is empty; accrete lint --reference prints one to start from`},
		{"# only a comment\n", `config.yaml: is empty; accrete lint --reference prints one to start from`},
		{strings.Replace(least, "  label", "  lable", 1), `config.yaml:6:3: unknown key "lable" in input; did you mean "label"?`},
		{least + "modle: x\n", `config.yaml:7:1: unknown key "modle"; did you mean "model"?`},
		{least + "learner:\n  stepper: rate\n", `config.yaml:8:3: unknown key "stepper" in learner; it is named "learner.direction" now`},
		{least + "telemetry:\n  otlp: http://u:p@collector:4318\n", `config.yaml:8:9: telemetry.otlp: has a password, which would be displayed: set OTEL_EXPORTER_OTLP_HEADERS`},
		{least + "score:\n  canary.model: b\n  canary.output: b.log\n", `config.yaml:9:18: score.canary.output: "b.log" has another purpose`},
		{least + "max_features: 5\n", `config.yaml:7:1: unknown key "max_features"; did you mean "learner.max_features"?`},
		{least + "input.format: csv\n", `config.yaml:7:1: unknown key "input.format": write format: below input:`},
		{strings.Replace(least, "bootstrap.servers: localhost:9092", "bootstrap:\n    servers: x:1", 1), `config.yaml:3:3: unknown key "bootstrap" in kafka; did you mean "bootstrap.servers"?`},
		{least + "http:\n  qwertyuiop: 1\n", `config.yaml:8:3: unknown key "qwertyuiop" in http, which has listen, predict, tls.cert_file, tls.key_file, tls.client_ca_file, token_file, hosts`},
		{least + "  label: again\n", `config.yaml:7:3: duplicate key input.label, first on line 6`},
		{least + "input:\n  key: a\n", `config.yaml:7:1: duplicate key input, first on line 4`},
		{least + "learner:\n  max_features: many\n", `config.yaml:8:17: learner.max_features: "many" is not a whole number`},
		{least + "learner:\n  max_features: 1.5\n", `config.yaml:8:17: learner.max_features: "1.5" is not a whole number`},
		{least + "learner:\n  max_features: [1]\n", `config.yaml:8:17: learner.max_features: want one value, not a list`},
		{least + "learner:\n  max_features: 1\n", `config.yaml:8:17: learner.max_features: is 1: want 32 to 1048576`},
		{least + "learner:\n  minibatch: 99999999\n", `config.yaml:8:14: learner.minibatch: is 99999999: want 0 to 65536`},
		{least + "learner:\n  seed: -1\n", `config.yaml:8:9: learner.seed: "-1" is not a whole number from 1 to 2^64-1`},
		{least + "learner:\n  lambda: .nan\n", `config.yaml:8:11: learner.lambda: ".nan" is not a number`},
		{least + "learner:\n  lambda: 1e999\n", `config.yaml:8:11: learner.lambda: "1e999" is not a number`},
		{least + "learner:\n  algorithm: newtown\n", `config.yaml:8:14: learner.algorithm: unknown value "newtown": want one of newton, …`},
		{least + "learner:\n  kernel:\n", `config.yaml:8:3: learner.kernel has no value; remove the line to use the default`},
		{least + "learner:\n  kernel: laplace\n", `config.yaml:8:11: learner.kernel: unknown kernel "laplace": want gaussian[:SCALE], …`},
		{least + "  lags: 2\nlearner:\n  kernel: skewed-chi2:2\n", `config.yaml:9:11: learner.kernel: skewed-chi2:2 requires inputs above -2: it excludes kernel.metric and input.lags`},
		{least + "learner:\n  kernel: {metrik: a}\n", `config.yaml:8:12: unknown key "metrik" in learner.kernel; did you mean "metric"?`},
		{least + "learner:\n  kernel: {name: a}\n", `config.yaml:8:12: unknown key "name" in learner.kernel, which has metric`},
		{least + "learner:\n  kernel: {metric: [a]}\n", `config.yaml:8:20: learner.kernel.metric: want one value, not a list`},
		{least + "learner:\n  kernel: {metric: a}\n  kernel.metric: b\n", `config.yaml:9:3: duplicate key learner.kernel.metric, first on line 8`},
		{least + "  lags: 2\nlearner:\n  kernel.metric: m.json\n", `config.yaml:9:18: learner.kernel.metric: cannot be combined with input.lags: the metric is for the inputs of one record`},
		{least + "learner:\n  lambda: -1\n", `config.yaml:8:11: learner.lambda: is -1: want 0 to 1`},
		{least + "learner:\n  seed: 0\n", `config.yaml:8:9: learner.seed: is 0: want 1 or more`},
		{least + "learner: 3\n", `config.yaml:7:10: learner is a section: want keys below it, as task: …`},
		{least + "  format: xml\n", `config.yaml:7:11: input.format: unknown value "xml": want one of json, avro, protobuf, json-schema, cloudevents, vw, float32`},
		{least + "  on_gap: skip\n", `config.yaml:7:11: input.on_gap: unknown value "skip": want one of stop, record`},
		{least + "  batch: {size: 0}\n", `config.yaml:7:17: input.batch.size: is 0: want 1 to 100000`},
		{least + "  batch: {linger: 5}\n", `config.yaml:7:19: input.batch.linger: "5" is not a duration: want a number with a unit, for example 5ms, 10s, 1m or 2h`},
		{least + "  key: {a: b}\n", `config.yaml:7:8: input.key: want a value, not keys below it`},
		{strings.Replace(least, "is_fraud", "[x, y, x]", 1), `config.yaml:6:10: input.label: duplicate "x"`},
		{strings.Replace(least, "is_fraud", "[x, '']", 1), `config.yaml:6:10: input.label: empty item in a list`},
		{strings.Replace(least, "is_fraud", "[x, y]", 1) + "learner:\n  task: classification\n", `config.yaml:8:9: learner.task: is classification, but input.label has 2 fields, which need task regression`},
		{strings.Replace(least, "is_fraud", "[x, y]", 1) + "learner:\n  loss: hinge\n", `config.yaml:8:9: learner.loss: hinge is a loss for classes, but input.label has 2 fields, which need task regression`},
		{least + "  columns: [a, b, a]\n", `config.yaml:7:12: input.columns: duplicate "a"`},
		{least + "  columns: [a, b]\nlearner:\n  sampling: sorf\n", `config.yaml:9:13: learner.sampling: sampling sorf needs at least 64 inputs, but there are 2: use iid`},
		{least + "  columns: [a, [b]]\n", `config.yaml:7:16: input.columns: want a list of plain values`},
		{least + "snapshot:\n  history: 2 gigs\n", `config.yaml:8:12: snapshot.history: "2 gigs" is not a size: want a whole number with a unit, for example 64MiB, 2GiB or 5GB`},
		{least + "snapshot:\n  history: 99999999TiB\n", `config.yaml:8:12: snapshot.history: "99999999TiB" is too large`},
		{least + "snapshot:\n  every: 1ms\n", `config.yaml:8:10: snapshot.every: is 1ms: want 100ms or more`},
		{least + "http:\n  listen: 8080\n", `config.yaml:8:11: http.listen: "8080" is not an address: want host:port, or off`},
		{least + "http:\n  listen: 127.0.0.1:http\n", `config.yaml:8:11: http.listen: "127.0.0.1:http" has no port from 1 to 65535, or off`},
		{strings.Replace(least, "localhost:9092", "localhost", 1), `config.yaml:3:22: kafka.bootstrap.servers: "localhost" is not an address: want host:port`},
		{strings.Replace(least, "localhost:9092", "a:1,,b:2", 1), `config.yaml:3:22: kafka.bootstrap.servers: "a:1,,b:2" has an empty item between its commas`},
		{strings.Replace(least, "fraud", "frau d", 1), `config.yaml:1:8: model: "frau d" is not a valid name for a model: use letters, digits, '.', '_' and '-'`},
		{strings.Replace(least, "fraud", long, 1), `config.yaml:1:8: model: "` + long[:60] + `…" is not a valid name for a model: use at most 200 characters, and not . or .. alone`},
		{strings.Replace(least, "payments.labelled", "a, a", 1), `config.yaml:5:11: input.topics: duplicate "a"`},
		{strings.Replace(least, "payments.labelled", "fraud.predictions", 1), `config.yaml:5:11: input.topics: "fraud.predictions" is written by this model, which would learn from its own output`},
		{least + "score:\n  topics: [a]\n  output: a\n", `config.yaml:8:11: score.topics: "a" is written by this model, which would score its own output`},
		{least + "score:\n  output: fraud.log\n", `config.yaml:8:11: score.output: "fraud.log" is written by the learner`},
		{strings.Replace(least, "model: fraud\n", "", 1), `model: is missing: add model: fraud, or set ACCRETE_MODEL`},
		{strings.Replace(least, "[payments.labelled]", "[]", 1), `config.yaml:5:11: input.topics: is missing: add topics: payments.labelled below input:, or set ACCRETE_INPUT_TOPICS`},
		{"model: m\n", `kafka.bootstrap.servers: is missing: add bootstrap.servers: localhost:9092 below kafka:, or set ACCRETE_KAFKA_BOOTSTRAP_SERVERS (and 2 more: see accrete lint)`},
		{strings.Replace(least, "input:", "  security.protocol: SASL_SSL\ninput:", 1), `kafka.sasl.mechanism: is missing, but required by SASL_SSL`},
		{strings.Replace(least, "input:", "  sasl.username: me\ninput:", 1), `kafka.security.protocol: is PLAINTEXT, which does not authenticate: want SASL_SSL for a sasl.mechanism, username, password or token`},
		{strings.Replace(least, "input:", "  ssl.ca.location: /ca\ninput:", 1), `config.yaml:4:20: kafka.ssl.ca.location: is set, but security.protocol is PLAINTEXT, which does not encrypt: want SSL or SASL_SSL`},
		{"just a text\n", `config.yaml:1:1: want keys with values, for example model: fraud`},
		{"- a\n- b\n", `config.yaml:1:1: want keys with values, for example model: fraud`},
		{"model: fraud\nkafka: [\n", `config.yaml:2:8: not YAML: sequence end token ']' not found`},
		{"model: fraud\n\tkafka: 1\n", `config.yaml:2:1: not YAML: found character '	' that cannot start any token`},
		{"model: 'fraud\n", `config.yaml:1:8: not YAML: could not find end character of single-quoted text`},
		{least + "---\nmodel: b\n", `config.yaml:8:6: more than one YAML document: want one`},
		{"model: \xff\n", `config.yaml:1: is not UTF-8 text`},
		{"model: a\nkafka: \x00\n", `config.yaml:2: is not UTF-8 text`},
		{"model: &a x\nlearner: *a\n", `config.yaml:1:8: YAML anchors, aliases, tags and directives are not supported; quote a value that begins with &`},
		{"model: !!binary x\n", `config.yaml:1:8: YAML anchors, aliases, tags and directives are not supported; quote a value that begins with !`},
		{"<<: {model: x}\n", `config.yaml:1:1: YAML anchors, aliases, tags and directives are not supported; quote a value that begins with <`},
		{strings.Repeat("[", 60000), `config.yaml:1:21: brackets are nested too deeply`},
		{"a: " + strings.Repeat("{a: ", 15000), `config.yaml:1:84: brackets are nested too deeply`},
		{strings.Repeat("#", 70000), `config.yaml: is larger than 64KiB, too large for a configuration`},
	} {
		_, err := load(t, test.text, nil, nil)
		if err == nil {
			t.Errorf("no error, want %s, for\n%s", test.want, test.text)
			continue
		}
		// The names of a table end in "…", so that a new row is not an edit here.
		names, open := strings.CutSuffix(test.want, "…")
		if err.Error() != test.want && !(open && strings.HasPrefix(err.Error(), names)) {
			t.Errorf("got  %s\nwant %s", err, test.want)
		}
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%v is not an ErrInvalid", err)
		}
	}
}

func TestAFileThatCannotBeReadIsOneClearLine(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"):      "no such file; accrete lint --reference prints one to start from",
		dir:                                  "is a directory, not a file",
		"/dev/zero":                          "is larger than 64KiB, too large for a configuration",
		filepath.Join(dir, "\x00"):           "invalid argument",
		filepath.Join("/dev/null", "a.yaml"): "not a directory",
	} {
		_, err := Load(Sources{File: path})
		if err == nil || err.Error() != path+": "+want {
			t.Errorf("%q: got %v, want %s", path, err, want)
		}
	}
}

func TestAMissingPropertiesFileIsNoConfiguration(t *testing.T) {
	if _, err := Load(Sources{Properties: "none.properties"}); err == nil || !strings.Contains(err.Error(), "none.properties: no such file") || strings.Contains(err.Error(), "--reference") {
		t.Errorf("%v", err)
	}
}

func TestAllProblemsAreReported(t *testing.T) {
	_, err := load(t, least+"  a: 1\n  format: xml\n", []string{"ACCRETE_LEARNER_SEED=x"}, []string{"learner.sed=1", "nonsense", "input=1"})
	want := []string{
		`config.yaml:7:3: unknown key "a" in input, which has topics, format, schema, registry, group, label, labels, key, weight, time, columns, missing, unknown, on_change, renames, windows, tables, sparse, lags, on_gap, max_classes, order, batch`,
		`config.yaml:8:11: input.format: unknown value "xml": want one of json, avro, protobuf, json-schema, cloudevents, vw, float32`,
		`ACCRETE_LEARNER_SEED: "x" is not a whole number from 1 to 2^64-1`,
		`--set learner.sed: unknown key "learner.sed"; did you mean "learner.seed"?`,
		`--set nonsense: want key=value, for example input.topics=a,b`,
		`--set input: is a section: want one of its keys, as input.topics=…`,
	}
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != len(want) {
		t.Fatalf("got %v, want %d problems", err, len(want))
	}
	for i, p := range problems {
		if p.Error() != want[i] {
			t.Errorf("got  %v\nwant %s", p, want[i])
		}
	}
}

func TestFlagOverEnvironmentOverFileOverDefault(t *testing.T) {
	environ := []string{"ACCRETE_INPUT_TOPICS=e1, e2", "ACCRETE_LEARNER_SEED=2", "ACCRETE_INPUT_KEY=", "HOME=/"}
	set := []string{"learner.seed=3", "input.columns=a,b"}
	c, err := load(t, least+"learner:\n  seed: 1\n  minibatch: 64\n", environ, set)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range c.Values() {
		got[v.Key] = v.Text + " from " + v.Source.String()
	}
	for key, want := range map[string]string{
		"learner.seed":      "3 from --set learner.seed",
		"input.topics":      "e1,e2 from env ACCRETE_INPUT_TOPICS",
		"learner.minibatch": "64 from config.yaml:9:14",
		"input.batch.size":  "1000 from default",
		"input.columns":     "a,b from --set input.columns",
		"input.key":         " from default",
	} {
		if got[key] != want {
			t.Errorf("%s: got %s, want %s", key, got[key], want)
		}
	}
}

func TestAKeyOfTheKernelStandsInItOrBesideIt(t *testing.T) {
	for _, text := range []string{"kernel: {metric: m.json}", "kernel:\n    metric: m.json", "kernel: gaussian\n  kernel.metric: m.json"} {
		c, err := load(t, least+"learner:\n  "+text+"\n", nil, nil)
		if err != nil || c.Learner.Kernel != "gaussian" || c.Learner.KernelMetric != "m.json" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Windows and tables of a file may be written as on the command line. An invalid one is a problem.
func TestWindowsAndTablesAsText(t *testing.T) {
	for text, want := range map[string]string{
		`windows: ["key=card of=amount over=1h,7d"]`:               "",
		`windows: ["key=card foo=b"]`:                              `config.yaml:7:13: input.windows: unknown option "foo"`,
		`tables: ["topic=customers key=id fields=tier,country"]`:   "",
		`tables: ["topic=customers key=id columns=tier"]`:          `config.yaml:7:12: input.tables: unknown option "columns"`,
		`tables: [["topic=customers key=id fields=tier,country"]]`: `input.tables: want a list of plain values`,
	} {
		if _, err := load(t, least+"  "+text+"\n", nil, nil); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestEveryOptionCanBeSetInEveryPlace(t *testing.T) {
	for _, o := range known.options {
		text := o.tag.Get("example")
		if text == "" {
			text = strings.Replace(o.tag.Get("default"), "<model>", "m", 1)
		}
		switch o.path { // options without a default
		case "input.columns":
			text = "a,b"
		case "input.windows":
			text = "key=card of=amount over=1h,7d"
		case "input.tables":
			text = "topic=customers key=customer_id fields=tier,country"
		case "input.renames":
			text = "amount=total"
		case "input.lags":
			text = "2"
		case "learner.minibatch":
			text = "64"
		case "learner.intervals":
			text = "0.9"
		case "refit.every":
			text = "10m"
		case "refit.prune":
			text = "0.1"
		}
		check := func(place string, c *Config) {
			if got := o.field(c); got.IsZero() || place != c.sources[o.path].Kind {
				t.Errorf("%s from %s: got %v from %v", o.path, place, got, c.sources[o.path])
			}
		}
		c := blank()
		if problems := c.readEnviron([]string{o.env + "=" + text}); problems != nil {
			t.Error(problems)
		}
		check("env", c)
		c = blank()
		f := &file{name: "f", config: c, lines: map[string]int{}}
		yaml := o.key + ": " + text
		if o.section != "" {
			yaml = strings.ReplaceAll(o.section, ".", ": {") + ": {" + o.key + ": \"" + text + "\"" + strings.Repeat("}", 1+strings.Count(o.section, "."))
			if o.section == "http" {
				yaml = "http: {" + o.key + ": \"" + text + "\"}"
			}
		}
		if f.parse(yaml); f.problems != nil {
			t.Error(f.problems)
		}
		check("file", c)
		if o.secret(c) {
			continue
		}
		c = blank()
		if problems := c.readSet([]string{o.path + "=" + text}); problems != nil {
			t.Error(problems)
		}
		check("flag", c)
	}
}

func blank() *Config { return &Config{sources: map[string]Source{}} }

func TestKeysAndEnvironmentNamesAreUnambiguous(t *testing.T) {
	seen := map[string]string{}
	for _, o := range known.options {
		for _, name := range []string{o.path, o.env} {
			if seen[name] != "" {
				t.Errorf("%s stands for %s and %s", name, seen[name], o.path)
			}
			seen[name] = o.path
		}
	}
}

func TestAPlainValueIsTakenAsWritten(t *testing.T) {
	for yaml, want := range map[string]string{
		"1": "1", "true": "true", "1e3": "1e3", "0x10": "0x10", "'a b'": "a b", `"é\n"`: "é\n", "no": "no", ".inf": ".inf", "|\n    a": "a",
	} {
		c, err := load(t, strings.Replace(least, "is_fraud", yaml, 1), nil, nil)
		if err != nil || !slices.Equal(c.Input.Label, Label{want}) {
			t.Errorf("label: %s: got %+v, %v, want %q", yaml, c, err, want)
		}
	}
}

// Several labels are a list in every notation, and one label is a single name
// in every notation.
func TestLabelsAreAList(t *testing.T) {
	several := strings.Replace(least, "is_fraud", "[x, y, 3]", 1)
	for _, c := range []struct {
		text    string
		environ []string
		set     []string
		want    Label
	}{
		{several, nil, nil, Label{"x", "y", "3"}},
		{strings.Replace(least, "is_fraud", "x, y,3", 1), nil, nil, Label{"x", "y", "3"}},
		{least, []string{"ACCRETE_INPUT_LABEL=x,y,3"}, nil, Label{"x", "y", "3"}},
		{least, nil, []string{"input.label=x,y,3"}, Label{"x", "y", "3"}},
		{several, nil, []string{"input.label=is_fraud"}, Label{"is_fraud"}},
		{strings.Replace(least, "is_fraud", "[is_fraud]", 1), nil, nil, Label{"is_fraud"}},
		{strings.Replace(least, "is_fraud", "['a,b']", 1), nil, nil, Label{"a,b"}},
	} {
		got, err := load(t, c.text, c.environ, c.set)
		if err != nil || !slices.Equal(got.Input.Label, c.want) {
			t.Errorf("%q, %v, %v: %+v, %v, want %v", c.text, c.environ, c.set, got, err, c.want)
			continue
		}
		for _, v := range got.Values() {
			var shown any = c.want
			if len(c.want) == 1 {
				shown = c.want[0]
			}
			if v.Key == "input.label" && !reflect.DeepEqual(v.Value, shown) {
				t.Errorf("%v is shown as %v", c.want, v.Value)
			}
		}
	}
}

func TestAFileFromAnotherEditorIsTheSame(t *testing.T) {
	want, _ := load(t, least, nil, nil)
	for _, text := range []string{
		"\ufeff" + least,
		strings.ReplaceAll(least, "\n", "\r\n"),
		"---\n" + least + "...\n",
		least + "learner:\n  # nothing\nscore:\n",
		strings.Replace(least, "[payments.labelled]", "payments.labelled", 1),
		strings.Replace(least, "[payments.labelled]", "\n  - payments.labelled", 1),
	} {
		got, err := load(t, text, nil, nil)
		if err != nil {
			t.Errorf("%v in %q", err, text)
			continue
		}
		if got, want := fmt.Sprint(texts(got)), fmt.Sprint(texts(want)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func texts(c *Config) []string {
	var texts []string
	for _, v := range c.Values() {
		texts = append(texts, v.Key+"="+v.Text)
	}
	return texts
}

func TestASecretIsNeverPrinted(t *testing.T) {
	login := strings.Replace(least, "input:", "  security.protocol: SASL_SSL\n  sasl.mechanism: PLAIN\n  sasl.username: me\ninput:", 1)
	c, err := load(t, login, []string{"ACCRETE_KAFKA_SASL_PASSWORD=hunter2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if security, err := c.Kafka.Security(); security.Password != "hunter2" || err != nil {
		t.Errorf("password %q, %v", security.Password, err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		for _, v := range []any{c.Kafka.Secret, c.Kafka, c.Values()} {
			if printed := fmt.Sprintf(verb, v); strings.Contains(printed, "hunter2") || strings.Contains(printed, fmt.Sprintf("%x", "hunter2")) {
				t.Errorf("%s of %T prints it: %s", verb, v, printed)
			}
		}
	}
	if _, err := load(t, login, nil, []string{"kafka.sasl.password=hunter2"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("on the command line: %v", err)
	}
}

func TestThePasswordFileIsRead(t *testing.T) {
	login := strings.Replace(least, "input:", "  security.protocol: SASL_SSL\n  sasl.mechanism: PLAIN\n  sasl.username: me\n  sasl.password_file: pass\ninput:", 1)
	c, err := load(t, login, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ReadPassword(); err == nil || err.Error() != "config.yaml:7:23: kafka.sasl.password_file: open pass: no such file or directory" {
		t.Errorf("without the file: %v", err)
	}
	os.WriteFile("pass", []byte("hunter2"), 0o600)
	if err := c.ReadPassword(); err != nil {
		t.Errorf("with it: %v", err)
	}
	os.WriteFile("pass", []byte("\n"), 0o600)
	if err := c.ReadPassword(); !errors.Is(err, ErrInvalid) {
		t.Errorf("an empty first line: %v", err)
	}
}

func TestProblemsHaveAnOrder(t *testing.T) {
	plain := strings.Replace(least, "input:", "  ssl.ca.location: /ca\n  ssl.certificate.location: /cert\n  ssl.key.location: /key\ninput:", 1)
	for range 20 {
		_, err := load(t, plain, nil, nil)
		var all Problems
		if !errors.As(err, &all) || len(all) != 3 {
			t.Fatalf("%v: want three problems", err)
		}
		for i, option := range []string{"kafka.ssl.ca.location: ", "kafka.ssl.certificate.location: ", "kafka.ssl.key.location: "} {
			if !strings.HasPrefix(all[i].Text, option) {
				t.Fatalf("problem %d is %q: want that of %s", i, all[i].Text, option)
			}
		}
	}
}

func TestSecretsInReadableFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	registry := strings.Replace(least, "input:", "input:\n  format: avro\n  registry:\n    url: https://registry.example.com\n    username: me\n    password: x", 1)
	warnings := func(config, properties string, of, ofProperties os.FileMode) (all []string) {
		t.Helper()
		for name, text := range map[string]string{"config.yaml": config, "client.properties": properties} {
			os.WriteFile(name, []byte(text), 0o600)
		}
		os.Chmod("config.yaml", of)
		os.Chmod("client.properties", ofProperties)
		c, err := Load(Sources{File: "config.yaml", Properties: "client.properties"})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.Warnings() {
			all = append(all, w.Error())
		}
		return all
	}
	want := []string{"config.yaml: contains input.registry.password and is readable by others: chmod 600, or use input.registry.password_file"}
	if got := warnings(registry, "client.id=a", 0o644, 0o644); !slices.Equal(got, want) {
		t.Errorf("the password of a registry: %q", got)
	}
	if got := warnings(registry, "client.id=a", 0o600, 0o644); got != nil {
		t.Errorf("properties without a password, beside a private file: %q", got)
	}
	login := "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=me\nsasl.password=x"
	if got := warnings(least, login, 0o644, 0o600); got != nil {
		t.Errorf("a private file of properties: %q", got)
	}
	if got := warnings(least, login, 0o644, 0o640); len(got) != 1 || !strings.HasPrefix(got[0], "client.properties: contains kafka.sasl.password and") {
		t.Errorf("a file of properties that the group may read: %q", got)
	}
}

func TestWarnings(t *testing.T) {
	login := strings.Replace(least, "input:", "  security.protocol: SASL_PLAINTEXT\n  sasl.mechanism: PLAIN\n  sasl.username: me\n  sasl.password: x\ninput:", 1)
	t.Chdir(t.TempDir())
	os.WriteFile("config.yaml", []byte(login), 0o644)
	os.Chmod("config.yaml", 0o644)
	c, err := Load(Sources{File: "config.yaml", Environ: []string{"ACCRETE_INPUT_TOPIC=a", "ACCRETE_XYZ=1", "OTHER=2"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ACCRETE_INPUT_TOPIC: unknown environment variable; did you mean ACCRETE_INPUT_TOPICS?",
		"ACCRETE_XYZ: unknown environment variable",
		"config.yaml: contains kafka.sasl.password and is readable by others: chmod 600, or use kafka.sasl.password_file",
		"config.yaml:4:22: kafka.security.protocol: the password is sent unencrypted",
	}
	var got []string
	for _, w := range c.Warnings() {
		got = append(got, w.Error())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	c, err = load(t, strings.Replace(least, "input:", "input:\n  key: who", 1)+"output:\n  redact: [who:hash, other, "+c.Input.Label[0]+"]\n", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Warnings(); len(w) != 2 || !strings.Contains(w[0].Text, "who is input.key") || !strings.Contains(w[1].Text, "is input.label") {
		t.Error(w)
	}
}

func TestAScorerNeedsNoInput(t *testing.T) {
	c, err := load(t, "model: m\nkafka: {bootstrap.servers: \"a:1,b:2\"}\nscore: {topics: [x]}\n", nil, nil)
	if err != nil || len(c.Kafka.Servers) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	err = c.Require("input.topics", "input.label", "score.topics")
	want := "input.topics: is missing: add topics: payments.labelled below input:, or set ACCRETE_INPUT_TOPICS (and 1 more: see accrete lint)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := c.Require("score.topics"); err != nil {
		t.Error(err)
	}
}
