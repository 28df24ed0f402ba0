package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// trips are n rows with a number that may be missing, categories and a time, as JSON and as
// CSV, with and without the label.
func trips(n int) (labelled, rows, cells []string) {
	rng := rand.New(rand.NewPCG(7, 7))
	cells = []string{"dep,carrier,tail,at"}
	for i := range n {
		dep := fmt.Sprintf("%.3f", rng.NormFloat64())
		carrier, tail, at := fmt.Sprintf("c%d", rng.IntN(4)), fmt.Sprintf("N,%d", rng.IntN(40)), fmt.Sprintf("2024-01-%02dT%02d:00:00Z", 1+i%28, i%24)
		late := (dep[0] == '-') != (carrier == "c1")
		cell := dep
		if i%9 == 5 {
			dep, cell = "null", ""
		}
		row := fmt.Sprintf(`{"dep":%s,"carrier":%q,"tail":%q,"at":%q`, dep, carrier, tail, at)
		labelled = append(labelled, row+fmt.Sprintf(`,"late":"%v"}`, late))
		rows = append(rows, row+"}")
		cells = append(cells, fmt.Sprintf("%s,%s,%q,%s", cell, carrier, tail, at))
	}
	return labelled, rows, cells
}

// answers returns the members that predict adds, as they are spelled.
func answers(t *testing.T, lines []string) (all []string) {
	t.Helper()
	for _, line := range lines {
		var v struct{ Prediction, Probabilities json.RawMessage }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, string(v.Prediction)+" "+string(v.Probabilities))
	}
	return all
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// objects decodes lines with one JSON object each.
func objects[T any](text string) ([]T, error) {
	all := make([]T, len(lines(text)))
	for i, line := range lines(text) {
		if err := json.Unmarshal([]byte(line), &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func values(rs []ingest.Record) (all []string) {
	for _, r := range rs {
		all = append(all, string(r.Value))
	}
	return all
}

func sameAnswers(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d predictions, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: row %d is %s, want %s", what, i, got[i], want[i])
		}
	}
}

// A row has one prediction, to the bit, whether a scorer writes it to a topic, accrete
// predict prints it for JSON or CSV, a scorer or a learner answers over HTTP in any of the
// three spellings of a request, or a Go program computes it. What fit --predictions
// writes is what a learner publishes, and what it saves is the model of a learner that has
// no incomplete mini-batch, and no fit of all rows at its end.
func TestPredictionsAreTheSameEverywhere(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	in, asked, model := kafkatest.Name("in"), kafkatest.Name("asked"), kafkatest.Name("m")
	labelled, rows, cells := trips(352)
	kafkatest.Fill(t, client, in, 1, labelled)
	kafkatest.Fill(t, client, asked, 1, rows)
	inDir(t, fmt.Sprintf("model: %s\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s]\n  label: late\nhttp:\n  listen: 'off'\nscore:\n  topics: [%s]\n  http.listen: 'off'\nlearner:\n  algorithm: ridge\n  max_features: 64\n", model, addr, in, asked))
	for name, text := range map[string][]string{"labelled.jsonl": labelled, "rows.jsonl": rows, "rows.csv": cells} {
		if err := os.WriteFile(name, []byte(strings.Join(text, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	accrete := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, nil, args...)
		if code != exit.Done {
			t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
		}
		return stdout
	}
	accrete("learn", "-c", "config.yaml", "--to-end")
	accrete("score", "-c", "config.yaml", "--to-end")
	want := answers(t, values(kafkatest.Read(t, client, model+".scores")))
	if len(want) != 352 || want[351] == "null " {
		t.Fatalf("scored %v", want[len(want)-1:])
	}
	for topic, source := range map[string]string{".scores": "/accrete/" + model + "/scorer", ".predictions": "/accrete/" + model} {
		if got := kafkatest.Header(kafkatest.Read(t, client, model+topic)[0], "ce_source"); got != source {
			t.Errorf("%s: ce_source %s, want %s", topic, got, source)
		}
	}
	sameAnswers(t, "JSON lines", answers(t, lines(accrete("predict", "rows.jsonl", "-c", "config.yaml"))), want)
	sameAnswers(t, "CSV as JSON", answers(t, lines(accrete("predict", "rows.csv", "-c", "config.yaml", "--json"))), want)
	sameAnswers(t, "CSV", csvAnswers(lines(accrete("predict", "rows.csv", "-c", "config.yaml"))), want)
	sameAnswers(t, "Go", goAnswers(t, client, model, rows), want)

	for _, args := range [][]string{{"score", "--set", "score.topics=", "--set", "score.http.predict=on", "--set", "score.http.listen="}, {"learn", "--http.predict", "--set", "http.listen="}} {
		for spelling, got := range httpAnswers(t, rows, args...) {
			sameAnswers(t, args[0]+" over HTTP, "+spelling, got, want)
		}
	}

	fit := []string{"fit", "labelled.jsonl", "--label", "late", "--algorithm", "ridge", "--max-features", "64", "--save", "m.snap", "--predictions", "p.jsonl"}
	accrete(fit...)
	progressive, err := os.ReadFile("p.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, "fit --predictions", answers(t, lines(string(progressive))), answers(t, values(kafkatest.Read(t, client, model+".predictions"))))
	sameAnswers(t, "a saved model", answers(t, lines(accrete("predict", "labelled.jsonl", "--model", "m.snap"))), want)
}

// httpAnswers asks a scorer or a learner that runs, in the three spellings of a request. The
// address is appended to the last argument.
func httpAnswers(t *testing.T, rows []string, args ...string) map[string][]string {
	t.Helper()
	addr := kafkatest.Address(t)
	args[len(args)-1] += addr
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan string, 1)
	go func() {
		var log bytes.Buffer
		run(ctx, append(args, "-c", "config.yaml"), nil, strings.NewReader(""), io.Discard, &log)
		ended <- log.String()
	}()
	defer func() {
		stop()
		<-ended
	}()
	ask := func(method, path string, body []byte, length int) (code int, answer []byte) {
		req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if length > 0 {
			req.Header.Set("Inference-Header-Content-Length", fmt.Sprint(length))
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, nil
		}
		defer r.Body.Close()
		answer, _ = io.ReadAll(r.Body)
		return r.StatusCode, answer
	}
	for code := 0; code != http.StatusOK; code, _ = ask("GET", "/v2/health/ready", nil, 0) {
		select {
		case log := <-ended:
			t.Fatalf("%v has ended: %s", args, log)
		case <-time.After(10 * time.Millisecond):
		}
	}
	code, b := ask("POST", "/predict", []byte("["+strings.Join(rows, ",")+"]"), 0)
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, b)
	}
	var text []string
	for _, v := range read[[]json.RawMessage](t, string(b)) {
		text = append(text, string(v))
	}
	all := map[string][]string{"objects": answers(t, text)}
	model := read[struct{ Model string }](t, text[0]).Model
	for spelling, request := range map[string]func([]string) ([]byte, int){"JSON tensors": jsonTensors, "binary tensors": binaryTensors} {
		body, length := request(rows)
		code, b := ask("POST", "/v2/models/"+model+"/infer", body, length)
		if code != http.StatusOK {
			t.Fatalf("%s: status %d: %s", spelling, code, b)
		}
		all[spelling] = inferAnswers(t, b, text[0])
	}
	for version, want := range map[string]int{"champion": 200, "2999-01-01T00:00:00Z": 200, "2020-01-01T00:00:00Z": 404, "1": 404, "x": 404} {
		if code, b := ask("GET", "/v2/models/"+model+"/versions/"+version, nil, 0); code != want {
			t.Errorf("version %s: status %d, want %d: %s", version, code, want, b)
		}
	}
	if _, b := ask("GET", "/metrics", nil, 0); !strings.Contains(string(b), fmt.Sprintf("accrete_scorer_http_rows_total{model=%q} %d", model, 3*len(rows))) {
		t.Errorf("the rows are not counted")
	}
	return all
}

// tensorsOf returns the columns of trips.
func tensorsOf(rows []string) (dep []json.RawMessage, texts map[string][]string) {
	texts = map[string][]string{}
	for _, r := range rows {
		var v struct {
			Dep               json.RawMessage
			Carrier, Tail, At string
		}
		if err := json.Unmarshal([]byte(r), &v); err != nil {
			panic(err)
		}
		dep = append(dep, v.Dep)
		for name, text := range map[string]string{"carrier": v.Carrier, "tail": v.Tail, "at": v.At} {
			texts[name] = append(texts[name], text)
		}
	}
	return dep, texts
}

func jsonTensors(rows []string) (body []byte, length int) {
	type tensor map[string]any
	dep, texts := tensorsOf(rows)
	inputs := []tensor{{"name": "dep", "datatype": "FP64", "shape": []int{len(rows)}, "data": dep}}
	for name, text := range texts {
		inputs = append(inputs, tensor{"name": name, "datatype": "BYTES", "shape": []int{len(rows), 1}, "data": text})
	}
	body, _ = json.Marshal(map[string]any{"inputs": inputs})
	return body, 0
}

func binaryTensors(rows []string) (body []byte, length int) {
	dep, texts := tensorsOf(rows)
	var rest []byte
	var inputs []map[string]any
	add := func(name, datatype string, from int) {
		inputs = append(inputs, map[string]any{"name": name, "datatype": datatype, "shape": []int{len(rows)}, "parameters": map[string]int{"binary_data_size": len(rest) - from}})
	}
	for name, column := range texts {
		from := len(rest)
		for _, text := range column {
			rest = append(binary.LittleEndian.AppendUint32(rest, uint32(len(text))), text...)
		}
		add(name, "BYTES", from)
	}
	from := len(rest)
	for _, text := range dep {
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			v = math.NaN() // null
		}
		rest = binary.LittleEndian.AppendUint64(rest, math.Float64bits(v))
	}
	add("dep", "FP64", from)
	body, _ = json.Marshal(map[string]any{"inputs": inputs})
	return append(body, rest...), len(body)
}

// inferAnswers returns the answer to a request for inference like those to objects, of
// which one is given.
func inferAnswers(t *testing.T, b []byte, object string) (all []string) {
	var a struct {
		Outputs []struct{ Data json.RawMessage }
	}
	if err := json.Unmarshal(b, &a); err != nil || len(a.Outputs) != 2 {
		t.Fatalf("%.500s: %v", b, err)
	}
	classes := regexp.MustCompile(`"(true|false)":`).FindAllStringSubmatch(object, 2)
	p := read[[]json.Number](t, string(a.Outputs[1].Data))
	for i, class := range read[[]string](t, string(a.Outputs[0].Data)) {
		all = append(all, fmt.Sprintf(`%q {%q:%v,%q:%v}`, class, classes[0][1], p[2*i], classes[1][1], p[2*i+1]))
	}
	return all
}

// csvAnswers returns the added columns of CSV as JSON members.
func csvAnswers(text []string) (all []string) {
	header := strings.Split(text[0], ",")
	for _, line := range text[1:] {
		cells := strings.Split(line, ",")
		n := len(cells)
		all = append(all, fmt.Sprintf(`"%s" {"%s":%s,"%s":%s}`, cells[n-3],
			strings.TrimPrefix(header[len(header)-2], "probability."), cells[n-2], strings.TrimPrefix(header[len(header)-1], "probability."), cells[n-1]))
	}
	return all
}

// goAnswers predicts as a program that imports the packages does.
func goAnswers(t *testing.T, client *ingest.Client, name string, rows []string) (all []string) {
	m, err := serve.NewFollower(client, model.LogTopic(name), nil, func(string, error) {}).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode.New(m.Decode, m.Schema)
	if err != nil {
		t.Fatal(err)
	}
	var b learner.Batch
	for _, text := range rows {
		row, err := d.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b.Reset(len(row.X))
		b.Append(row.X, learner.Label{}, 1)
		out := m.Predict(&b)
		p := out.Row(0)
		all = append(all, fmt.Sprintf(`%q {%q:%v,%q:%v}`, m.Schema.Classes[out.Decision.Class(p)], m.Schema.Classes[0], p[0], m.Schema.Classes[1], p[1]))
	}
	return all
}

// Novelties have a score and a threshold, the same in every format.
func TestPredictNovelties(t *testing.T) {
	inDir(t, least)
	rows := "a,b\n"
	for i := range 300 {
		rows += fmt.Sprintf("%d,%d\n", i%7, (i*i)%5)
	}
	if err := os.WriteFile("rows.csv", []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, nil, "fit", "rows.csv", "--task", "novelty", "--max-features", "32", "--save", "n.snap", "--predictions", "p.csv"); code != exit.Done {
		t.Fatal(stderr)
	}
	if b, err := os.ReadFile("p.csv"); err != nil || lines(string(b))[0] != "a,b,prediction,score,threshold" || len(lines(string(b))) != 301 {
		t.Errorf("%.200s, %v", b, err)
	}
	code, stdout, stderr := call(t, nil, "predict", "rows.csv", "--model", "n.snap")
	_, asJSON, _ := call(t, nil, "predict", "rows.csv", "--model", "n.snap", "--json")
	cells := strings.Split(lines(stdout)[300], ",")
	if code != exit.Done || !strings.HasSuffix(asJSON, fmt.Sprintf(`"prediction":%s,"score":%s,"threshold":%s}`+"\n", cells[2], cells[3], cells[4])) {
		t.Errorf("exit code %d, %s, %v, %.300s", code, stderr, cells, asJSON)
	}
}

// Regressions, several labels and LIBSVM, with rows that cannot be read.
func TestPredictWritesTheFormatOfTheFile(t *testing.T) {
	inDir(t, least)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	two, sparse := "a,b,u,v\n", ""
	for i := range 80 {
		a, b := i%7, (i*i)%5
		two += fmt.Sprintf("%d,%d,%d.5,%d\n", a, b, a+b, a*b)
		sparse += fmt.Sprintf("%d.5 1:%d 2:%d\n", a+b, a, b)
	}
	write("two.csv", two)
	write("one.svm", sparse)
	for _, args := range [][]string{{"two.csv", "--label", "u,v", "--save", "two.snap"}, {"one.svm", "--save", "one.snap", "--predictions", "p.svm"},
		{"two.csv", "--label", "u", "--columns", "a,b", "--variance", "--intervals", "0.9", "--save", "wide.snap", "--predictions", "wide.csv"}} {
		if code, _, stderr := call(t, nil, append([]string{"fit", "--algorithm", "ridge", "--max-features", "32"}, args...)...); code != exit.Done {
			t.Fatal(stderr)
		}
	}
	write("rows.csv", "b,a,u\n2,3,\n1,x,9\n0,0,1\n")
	code, stdout, stderr := call(t, nil, "predict", "rows.csv", "--model", "two.snap", "--skip-bad")
	if got := lines(stdout); code != exit.Done || len(got) != 3 || got[0] != "b,a,u,prediction.u,prediction.v" || !strings.HasPrefix(got[1], "2,3,,") || !strings.Contains(stderr, `"rows":1,"line":3`) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = call(t, nil, "predict", "rows.csv", "--model", "two.snap")
	if got := lines(stdout); code != exit.Failed || len(got) != 2 || !strings.Contains(stderr, `"a" is text "x"`) || !strings.Contains(stderr, "--skip-bad") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = call(t, nil, "predict", "one.svm", "--model", "one.snap")
	if got := lines(stdout); code != exit.Done || len(got) != 80 || !strings.HasPrefix(got[3], `7.5 1:3 2:4 # {"prediction":`) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if b, err := os.ReadFile("p.svm"); err != nil || !strings.HasPrefix(string(b), "0.5 1:0 2:0 # {\"prediction\":null}\n") || len(lines(string(b))) != 80 {
		t.Errorf("%.200s, %v", b, err)
	}
	code, stdout, _ = call(t, nil, "predict", "one.svm", "--model", "one.snap", "--json")
	if got := lines(stdout); code != exit.Done || !strings.HasPrefix(got[3], `{"x":[3,4],`) || !json.Valid([]byte(got[3])) {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	code, stdout, _ = call(t, nil, "predict", "rows.csv", "--model", "wide.snap", "--skip-bad")
	got := lines(stdout)
	if code != exit.Done || got[0] != "b,a,u,prediction,interval.low,interval.high,variance" || len(strings.Split(got[1], ",")) != 7 || strings.HasSuffix(got[1], ",") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	if b, err := os.ReadFile("wide.csv"); err != nil || lines(string(b))[0] != "a,b,u,v,prediction,interval.low,interval.high,variance" || lines(string(b))[1] != "0,0,0.5,0,,,," || strings.HasSuffix(lines(string(b))[80], ",") {
		t.Errorf("%.200s, %v", b, err)
	}
	if code, _, stderr := call(t, nil, "predict", "rows.csv", "--model", "rows.csv"); code != exit.Misused || !strings.Contains(stderr, "rows.csv is not a snapshot file") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("rows as a model: exit code %d, %s", code, stderr)
	}
	write("taken.csv", "a,b,prediction.u\n1,2,3\n")
	write("taken.jsonl", `{"x":[1,2],"prediction":1}`+"\n")
	for _, args := range [][]string{{"taken.csv", "--model", "two.snap"}, {"taken.jsonl", "--model", "one.snap"}, {"absent.csv", "--model", "two.snap"}, {"rows.csv", "--model", "absent.snap"}} {
		if code, stdout, stderr := call(t, nil, append([]string{"predict"}, args...)...); code == exit.Done || stderr == "" {
			t.Errorf("%v: exit code %d, %s", args, code, stdout)
		}
	}
}

// Predictions of a file have its separator, and quotes around the cells that contain it.
func TestPredictionsHaveTheSeparatorOfTheFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, separator := range []string{",", ";", "\t", "|"} {
		rows := "a-c-y\n"
		for i := range 40 {
			rows += fmt.Sprintf("%d-%q-%d.5\n", i%7, "p-q", i%5)
		}
		if err := os.WriteFile("rows.csv", []byte(strings.ReplaceAll(rows, "-", separator)), 0o600); err != nil {
			t.Fatal(err)
		}
		fitted(t, "rows.csv", "--save", "m.snap", "--predictions", "progressive.csv")
		progressive, err := os.ReadFile("progressive.csv")
		if err != nil {
			t.Fatal(err)
		}
		_, predicted, _ := call(t, nil, "predict", "rows.csv", "--model", "m.snap")
		for _, got := range []string{string(progressive), predicted} {
			r := csv.NewReader(strings.NewReader(got))
			r.Comma = rune(separator[0])
			all, err := r.ReadAll()
			if err != nil || len(all) != 41 || !slices.Equal(all[0], []string{"a", "c", "y", "prediction"}) || all[1][1] != "p"+separator+"q" {
				t.Errorf("%q: %v\n%.100s", separator, err, got)
			}
		}
	}
}

func TestPredictNamesBothSourcesOfAModel(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := call(t, nil, "predict", "rows.csv")
	if code != exit.Refused || !strings.Contains(stderr, "--model SNAPSHOT") || !strings.Contains(stderr, "-c FILE") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// After fit has found the label of a CSV file, its model predicts flat JSON objects, with and without
// the label.
func TestPredictReadsFlatObjectsWithoutALabel(t *testing.T) {
	dir := t.TempDir()
	rows, objects, model := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "m.snap")
	for name, text := range map[string]string{rows: "a,b,y\n1,2,2.5\n2,3,3.5\n3,5,4.5\n", objects: `{"a":1,"b":2,"y":2.5}` + "\n" + `{"a":2,"b":3}` + "\n" + `{"b":5,"a":3}` + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fitted(t, rows, "--save", model)
	var predicted [2][]string
	for i, path := range []string{rows, objects} {
		code, stdout, stderr := call(t, nil, "predict", path, "--model", model, "--json")
		if code != exit.Done {
			t.Fatalf("%s: exit code %d: %s", path, code, stderr)
		}
		for _, line := range lines(stdout) {
			_, of, _ := strings.Cut(line, `"prediction"`)
			predicted[i] = append(predicted[i], of)
		}
	}
	if len(predicted[0]) != 3 || !slices.Equal(predicted[0], predicted[1]) {
		t.Errorf("rows %q, objects %q", predicted[0], predicted[1])
	}
}

// The output for a CSV file without rows, or without readable ones, has the columns that it has with
// rows. As JSON lines it is empty.
func TestPredictionsOfNoRowsHaveTheirHeader(t *testing.T) {
	inDir(t, least)
	labelled := "a,b,y,z,c\n"
	for i := range 80 {
		labelled += fmt.Sprintf("%d,%d,%d.5,%d,%c\n", i%7, (i*i)%5, i%7+(i*i)%5, i%7, 'p'+i%3)
	}
	for name, text := range map[string]string{"train.csv": labelled, "some.csv": "b,a\n2,3\n", "none.csv": "b,a\n", "bad.csv": "b,a\nx,1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, flags := range []string{"--label y", "--label y --variance --intervals 0.9", "--label y --loss quantile:0.1,0.9", "--label y,z", "--label c", "--task novelty"} {
		fitted(t, append([]string{"train.csv", "--columns", "a,b", "--save", "m.snap"}, strings.Fields(flags)...)...)
		_, some, _ := call(t, nil, "predict", "some.csv", "--model", "m.snap")
		header := lines(some)[0] + "\n"
		code, stdout, stderr := call(t, nil, "predict", "none.csv", "--model", "m.snap")
		if code != exit.Done || stdout != header || !strings.Contains(stderr, "the file has no rows") || !strings.HasPrefix(header, "b,a,prediction") {
			t.Errorf("%s: exit code %d, %q and %q, want %q", flags, code, stdout, stderr, header)
		}
		code, stdout, stderr = call(t, nil, "predict", "bad.csv", "--model", "m.snap", "--skip-bad")
		if code != exit.Failed || stdout != header || strings.Contains(stderr, "no rows") || !strings.Contains(stderr, "none of its 1 row could be read") {
			t.Errorf("%s: exit code %d, %q and %q, want %q", flags, code, stdout, stderr, header)
		}
		code, stdout, stderr = call(t, nil, "predict", "none.csv", "--model", "m.snap", "--json")
		if code != exit.Done || stdout != "" || !strings.Contains(stderr, "the file has no rows") {
			t.Errorf("%s --json: exit code %d, %q and %q", flags, code, stdout, stderr)
		}
	}
}

// fit --predictions writes the rows of formats without a place for predictions as JSON objects, as
// predict does.
func TestProgressivePredictionsOfEveryFormat(t *testing.T) {
	for name, text := range map[string]string{
		"a.vw":    strings.Repeat("1 | a:1 b:2\n-1 | a:2 b:3\n", 20),
		"a.jsonl": strings.Repeat(`{"features":{"a":1},"label":"p"}`+"\n"+`{"features":{"a":2},"label":"n"}`+"\n", 20),
	} {
		dir := t.TempDir()
		file, out := filepath.Join(dir, name), filepath.Join(dir, "out")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := call(t, nil, "fit", file, "--columns", "a:numeric,*", "--predictions", out); code != exit.Done {
			t.Fatalf("%s: exit code %d: %s", name, code, stderr)
		}
		written, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		type row struct {
			Features   map[string]any
			Prediction *string
		}
		rows, err := objects[row](string(written))
		if err != nil || len(rows) != 40 || rows[39].Prediction == nil || rows[39].Features["a"] != 2.0 {
			t.Errorf("%s: %v, %d rows:\n%s", name, err, len(rows), written[max(0, len(written)-300):])
		}
	}
}

// Predictions are compressed if the name of their file says so.
func TestProgressivePredictionsAreCompressed(t *testing.T) {
	file, out := filepath.Join(t.TempDir(), "a.csv"), filepath.Join(t.TempDir(), "out.csv.gz")
	if err := os.WriteFile(file, []byte("y,a\n"+strings.Repeat("p,1\nn,2\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, nil, "fit", file, "--predictions", out); code != exit.Done {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if code, stdout, stderr := call(t, nil, "fit", out, "--label", "y"); code != exit.Done || !strings.Contains(stdout, "from 3 inputs") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	written, err := os.ReadFile(out)
	if err != nil || !bytes.HasPrefix(written, []byte("\x1f\x8b")) {
		t.Errorf("%v, %q", err, written[:min(len(written), 20)])
	}
}

// A name that would be there twice is refused, whichever options the prediction has.
func TestNamesOfPredictionsAreTakenOnce(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ name, text, option, want string }{
		{"a.csv", "y,variance\n" + strings.Repeat("1.5,2\n2.5,3\n", 20), "--variance", "a column is named variance already"},
		{"b.csv", "y,interval.low\n" + strings.Repeat("1.5,2\n2.5,3\n", 20), "--intervals=0.9", "a column is named interval.low already"},
		{"d.jsonl", strings.Repeat(`{"label":1.5,"features":{"a":1},"variance":2}`+"\n", 20), "--columns=a,variance:ignored", ""}, // is not added
		{"c.jsonl", strings.Repeat(`{"label":1.5,"features":{"a":1},"mixture":2}`+"\n", 20), "--columns=a,mixture:ignored", "field mixture already"},
	} {
		file, out := filepath.Join(dir, test.name), filepath.Join(dir, test.name+".out")
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := call(t, nil, "fit", file, test.option, "--predictions", out); (code == exit.Done) != (test.want == "") || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit code %d: %s", test.name, code, stderr)
		}
		if _, err := os.Stat(out); (err == nil) != (test.want == "") {
			t.Errorf("%s: the file: %v", test.name, err)
		}
	}
}

// A model that learns from its own requests starts before there are any, and does not warn that it has no
// learner.
func TestALearnerCreatesTheTopicOfItsRequests(t *testing.T) {
	addr := kafkatest.Addr(t)
	client := kafkatest.ClientOf(t, addr, nil)
	name := kafkatest.Name("asked")
	kafkatest.Fill(t, client, name+"-outcomes", 1, []string{`{"id":"k","y":1}`})
	inDir(t, fmt.Sprintf("model: %s\nkafka:\n  bootstrap.servers: %s\ninput:\n  topics: [%s-requests]\n  label: y\n  labels: {ttl: 1h, key: id, topic: %s-outcomes}\nrequests: {topic: %s-requests}\nhttp: {listen: \"127.0.0.1:0\", predict: on}\n", name, addr, name, name, name))
	if code, stdout, stderr := call(t, nil, "lint", "-c", "config.yaml", "--online"); code != exit.Done {
		t.Errorf("lint: %d %s %s", code, stdout, stderr)
	}
	if code, _, stderr := call(t, nil, "learn", "-c", "config.yaml", "--to-end"); code != exit.Done || strings.Contains(stderr, "no learner of this model") {
		t.Errorf("learn: %d %s", code, stderr)
	}
}
