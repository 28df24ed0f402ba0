package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/internal/config"
)

// startBroker runs the broker as a process until the test ends, and returns its
// report.
func startBroker(t *testing.T, args ...string) (*exec.Cmd, brokerReport) {
	t.Helper()
	cmd := program(t, append([]string{"broker", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var report brokerReport
	if err := json.Unmarshal(line, &report); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return cmd, report
}

func TestTheBrokerKeepsItsTopicsThroughKill9(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd, report := startBroker(t, "--dir", dir, "--topics", "a:3,b")
	if want := map[string]int{"a": 3, "b": 1}; !reflect.DeepEqual(report.Topics, want) || report.Dir != dir {
		t.Errorf("reported %+v, want topics %v", report, want)
	}
	cmd.Process.Kill()
	cmd.Wait()
	cmd, report = startBroker(t, "--dir", dir)
	client, err := env.Connect(&config.Config{Kafka: config.Kafka{Servers: []string{report.Address}}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if topic, err := client.Topic(t.Context(), "a"); err != nil || topic.Partitions != 3 {
		t.Errorf("after kill -9: topic a is %+v, %v", topic, err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

func TestTheBrokerSaysWhyItCannotStart(t *testing.T) {
	dir := t.TempDir()
	_, first := startBroker(t, "--dir", dir)
	for _, test := range []struct {
		args []string
		code int
		line string
	}{
		{[]string{"broker", "--memory", "--listen", first.Address}, exit.Failed, "accrete: " + first.Address + " is in use by another program: choose another address with --listen\n"},
		{[]string{"broker", "--dir", dir, "--listen", "127.0.0.1:0"}, exit.Failed, "accrete: directory is in use by another broker: " + dir + "\n"},
		{[]string{"broker", "--dir", dir, "--memory"}, exit.Misused, "accrete: --dir and --memory can't be used together; see accrete broker --help\n"},
		{[]string{"broker", "--topics", "a:0"}, exit.Misused, "accrete: --topics a:0: want NAME[:PARTITIONS], for example payments:3\n"},
		{[]string{"broker", "--topics", ":2"}, exit.Misused, "accrete: --topics :2: the name is empty\n"},
	} {
		cmd := program(t, test.args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != test.code || stderr.String() != test.line {
			t.Errorf("%v: exit code %d, said %q, want %d, %q", test.args, code, stderr.String(), test.code, test.line)
		}
	}
}
