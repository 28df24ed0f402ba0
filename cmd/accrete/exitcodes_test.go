package main

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A supervisor restarts a learner unless it ends with 76 or 78: what a restart cannot change has 78,
// and a port that the process before may still have has 75.
func TestLearnRefusesWhatARestartCannotChange(t *testing.T) {
	var values []string
	rng := rand.New(rand.NewPCG(3, 2))
	for range 100 {
		values = append(values, string(ring(rng)))
	}
	d := kafkatest.NewDisk(t)
	do := on(t, d.Addr)
	client := kafkatest.ClientOf(t, d.Addr, nil)
	kafkatest.Fill(t, client, "in", 1, values)
	do(exit.Refused, "learner.step.size is 2: want 0", "learn", "--to-end", "--set", "learner.algorithm=dsg", "--set", "learner.step.size=2")
	do(exit.Done, "", "learn", "--to-end", "--set", "learner.mixture=on")
	do(exit.Refused, "options differ from the model's", "learn", "--to-end", "--set", "learner.mixture=auto", "--set", "learner.loss=hinge")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	do(exit.Later, "is in use by another program", "learn", "--to-end", "--set", "learner.mixture=on", "--set", "http.listen="+listener.Addr().String())
}

// A file of the section http that cannot be used is a fault of the configuration, as one of the section
// kafka is.
func TestFilesThatCannotBeUsedAreRefused(t *testing.T) {
	inDir(t, least)
	for _, options := range [][]string{
		{"--set", "http.token_file=absent"},
		{"--set", "http.tls.cert_file=config.yaml", "--set", "http.tls.key_file=config.yaml"},
	} {
		code, _, stderr := call(t, nil, append([]string{"score", "-c", "config.yaml", "--set", "score.http.predict=on", "--set", "score.http.listen=127.0.0.1:0"}, options...)...)
		if code != exit.Refused || !strings.Contains(stderr, "http.t") {
			t.Errorf("%v: exit code %d, said %s", options, code, stderr)
		}
	}
}

// So is a file of a schema registry, whether or not the registry answers.
func TestSecretsOfARegistryThatCannotBeReadAreRefused(t *testing.T) {
	inDir(t, least)
	for _, options := range [][]string{{"username=me", "password_file=absent"}, {"token_file=absent"}} {
		args := []string{"learn", "-c", "config.yaml", "--set", "input.format=avro", "--set", "input.registry.url=http://127.0.0.1:1", "--set", "http.listen=off"}
		for _, o := range options {
			args = append(args, "--set", "input.registry."+o)
		}
		if code, _, stderr := call(t, nil, args...); code != exit.Refused || !strings.Contains(stderr, "_file: open absent") {
			t.Errorf("%v: exit code %d, said %s", options, code, stderr)
		}
	}
}

// The error that ends the process is a line of its log if that is JSON. A command that is not run by a
// supervisor has a JSON log elsewhere than on a terminal, too, but only with --log-format json is its
// error a line of that.
func TestLastErrorHasTheFormatOfTheLog(t *testing.T) {
	inDir(t, least)
	for _, test := range []struct {
		command, format string
		json            bool
	}{
		{"learn", "auto", true}, {"score", "auto", true}, {"learn", "json", true}, {"learn", "console", false},
		{"verify", "auto", false}, {"verify", "json", true},
	} {
		code, _, stderr := call(t, nil, test.command, "-c", "config.yaml", "--set", "learner.lags=-1", "--log-format", test.format)
		want := "accrete: "
		if test.json {
			want = `"code":78,`
		}
		if code != exit.Refused || !strings.Contains(stderr, want) || json.Valid([]byte(stderr)) != test.json {
			t.Errorf("%s, %s: exit code %d, said %s", test.command, test.format, code, stderr)
		}
	}
}
