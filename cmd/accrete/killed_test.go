//go:build failpoints

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// killedAt runs a command as a process that kills itself at one of its steps of input
// and output. It returns false if the command has fewer steps, and has succeeded.
func killedAt(t *testing.T, step int, args ...string) bool {
	t.Helper()
	cmd := program(t, args...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("ACCRETE_FAILPOINT=%d", step))
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return false
	case cmd.ProcessState.ExitCode() != -1:
		t.Fatalf("%v, to be killed at step %d: %v\n%s", args, step, err, out)
	}
	return true
}

// import and adopt are killed by SIGKILL just before each of their requests and just
// after each response, and are then repeated as they say. The result is the same.
func TestCommandsAreKilledAtEachStep(t *testing.T) {
	addr := kafkatest.Addr(t)
	c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("in")
	name := "m-" + in
	var values []string
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		values = append(values, string(ring(rng)))
	}
	kafkatest.Fill(t, c, in, 1, values)
	inDir(t, fmt.Sprintf("model: %s\nkafka: {bootstrap.servers: %q}\ninput: {topics: [%s], label: label, batch: {size: 50}}\nlearner: {max_features: 64, mixture: off}\nsnapshot: {chunk: 64KiB}\nhttp: {listen: \"off\"}\n", name, addr, in))
	do := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := call(t, nil, append(args, "-c", "config.yaml")...)
		if code != want {
			t.Fatalf("%v: exit %d, want %d\n%s%s", args, code, want, stdout, stderr)
		}
		return stdout, stderr
	}
	type report struct {
		Seq       int64
		Snapshots []*modellog.Manifest
		Records   []struct{ Type, Void string }
	}
	inspect := func() report {
		t.Helper()
		out, _ := do(exit.Done, "inspect", "--json", "--records", "10000")
		return read[report](t, out)
	}
	remove := func(topic string) {
		t.Helper()
		kafkatest.Delete(t, addr, topic)
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if _, err := c.TopicID(t.Context(), topic); errors.Is(err, ingest.ErrUnknownTopic) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s is still there", topic)
			}
		}
	}
	do(exit.Done, "learn", "--to-end")
	file := filepath.Join(t.TempDir(), "m.export")
	do(exit.Done, "export", file)
	want := inspect()
	log := model.LogTopic(name)

	steps, interrupted := 1, 0
	for ; ; steps++ {
		remove(log)
		if !killedAt(t, steps, "import", file, "-c", "config.yaml") {
			break
		}
		code, _, stderr := call(t, nil, "import", file, "-c", "config.yaml")
		switch {
		case strings.Contains(stderr, "was interrupted"):
			interrupted++
			do(exit.Refused, "learn", "--to-end")
			remove(log)
			do(exit.Done, "import", file)
		case strings.Contains(stderr, "needs an empty log"): // it was complete
		case code != exit.Done:
			t.Fatalf("import, after a kill at step %d: exit %d\n%s", steps, code, stderr)
		}
		if got := inspect(); got.Seq != want.Seq || len(got.Snapshots) != 1 || got.Snapshots[0].StateHash != want.Snapshots[0].StateHash {
			t.Fatalf("import, after a kill at step %d: seq %d, %d snapshots, want seq %d", steps, got.Seq, len(got.Snapshots), want.Seq)
		}
	}
	if t.Logf("import: %d steps, %d times its log was incomplete", steps-1, interrupted); interrupted == 0 {
		t.Error("no import was interrupted")
	}

	remove(in)
	kafkatest.Fill(t, c, in, 1, values)
	for steps = 1; ; steps++ {
		remove(log)
		do(exit.Done, "import", file)
		killed := killedAt(t, steps, "adopt", "-c", "config.yaml")
		do(exit.Done, "adopt")
		adopted := 0
		got := inspect()
		for _, r := range got.Records {
			if r.Type == "adopt" && r.Void == "" {
				adopted++
			}
		}
		if adopted != 1 || got.Seq != want.Seq+1 {
			t.Fatalf("adopt, after a kill at step %d: %d ADOPT records, seq %d, want %d", steps, adopted, got.Seq, want.Seq+1)
		}
		if !killed {
			break
		}
	}
	t.Logf("adopt: %d steps", steps-1)
	kafkatest.Fill(t, c, in, 1, values[:100])
	do(exit.Done, "learn", "--to-end")
	do(exit.Done, "verify")
}
