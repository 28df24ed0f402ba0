package main

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	logs "github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

func TestDoctorReportsWhatItFinds(t *testing.T) {
	client, model, config := fortyRecords(t)
	t.Chdir(t.TempDir())
	doctor := func(environ []string, args ...string) (r doctorReport, text string) {
		t.Helper()
		code, text, stderr := call(t, environ, append([]string{"doctor"}, args...)...)
		if code != exit.Done || stderr != "" {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
		code, line, stderr := call(t, environ, append([]string{"doctor", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(line), &r); code != exit.Done || err != nil {
			t.Fatalf("%v: exit code %d, %v: %s", args, code, err, stderr)
		}
		return r, text
	}
	r, text := doctor([]string{"GOGC=50", "AWS_SECRET_ACCESS_KEY=abc"})
	if r.Build != thisBuild() || r.CPUs < 1 || len(r.Variables) != 1 || r.Variables["GOGC"] != "50" || !strings.Contains(text, "-c FILE") {
		t.Errorf("without a configuration: %+v\n%s", r, text)
	}
	inDir(t, config)
	if r, text = doctor(nil, "-c", "config.yaml"); r.Log != nil || !strings.Contains(r.LogError, model) || len(r.Topics) < 2 || r.Topics[0].Status == "problem" {
		t.Errorf("before the model: %+v\n%s", r, text)
	}
	if code, _, stderr := call(t, nil, "learn", "-c", "config.yaml", "--to-end"); code != exit.Done {
		t.Fatal(stderr)
	}
	r, text = doctor(nil, "-c", "config.yaml")
	if r.Log == nil || r.Log.Snapshots != 1 || r.Log.Seq < 1 || r.LogError != "" || r.Cluster != "" || !strings.Contains(text, "\nsnapshot     ") || !strings.Contains(text, "option       learner.max_features: 32") || strings.Contains(text, "learner.seed") {
		t.Errorf("with a model: %+v\n%s", r, text)
	}
	kafkatest.Fill(t, client, logs.LogTopic(model), 1, []string{"no record of a model log"})
	if r, text = doctor(nil, "-c", "config.yaml"); r.Log == nil || r.Log.Snapshots != 1 || r.LogError != "" {
		t.Errorf("with an unreadable record: %+v\n%s", r, text)
	}
	if r, text = doctor(nil, "-c", "config.yaml", "--set", "learner.seed=x"); len(r.Problems) != 1 || !strings.Contains(text, "PROBLEM      ") {
		t.Errorf("with a problem: %+v\n%s", r, text)
	}
	mute, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	if r, text = doctor(nil, "-c", "config.yaml", "--set", "kafka.bootstrap.servers="+mute.Addr().String(), "--timeout", "200ms"); r.Late == "" || !strings.Contains(text, "--timeout") {
		t.Errorf("without an answer: %+v\n%s", r, text)
	}
	if r, text = doctor(nil, "-c", "config.yaml", "--set", "kafka.bootstrap.servers=127.0.0.1:1", "--timeout", "200ms"); r.Cluster == "" || r.Log != nil {
		t.Errorf("without a broker: %+v\n%s", r, text)
	}
}
