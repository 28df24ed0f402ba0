package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/history"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// on returns a function that runs a command for the model m on a broker. It returns
// the output, after it has checked the exit code and, of an error, the text.
func on(t *testing.T, addr string) func(want int, says string, args ...string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "accrete.yaml")
	text := fmt.Sprintf("model: m\nkafka: {bootstrap.servers: %q}\ninput: {topics: [in], label: label, batch: {size: 50}}\nlearner: {max_features: 64, kernel: \"gaussian:1.5\", mixture: off}\nhttp: {listen: \"off\"}\n", addr)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(want int, says string, args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, nil, append(args, "-c", config)...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Fatalf("%v: exit %d, want %d and %q\n%s%s", args, code, want, says, stdout, stderr)
		}
		return stdout
	}
}

// read parses the output of a command.
func read[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// The ways out that docs/operations.md describes, one after the other: a log that has
// lost its tail is rolled back; the model is then copied to another cluster, where its
// input has other offsets.
func TestTheWaysOutOfARefusal(t *testing.T) {
	var values []string
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		values = append(values, string(ring(rng)))
	}
	d := kafkatest.NewDisk(t)
	here := on(t, d.Addr)
	kafkatest.Fill(t, kafkatest.ClientOf(t, d.Addr, nil), "in", 1, values[:300])
	here(exit.Done, "", "learn", "--to-end")
	before := read[audit.LogReport](t, here(exit.Done, "", "inspect", "--json", "--records", "0"))
	d.Down(func() {
		d.Change("m.log", 0, func(bs [][]byte) [][]byte { return bs[:4] })
	})
	here(exit.Refused, "lost its tail", "learn", "--to-end")
	here(exit.Refused, "lost its tail", "verify")
	here(exit.Refused, "lost its tail", "export", filepath.Join(t.TempDir(), "none"))
	back := read[history.RollbackReport](t, here(exit.Done, "", "rollback", "--json", "--reason", "disk"))
	if !back.RolledBack || back.Seq != before.Seq+1 || back.ToSeq >= before.Seq {
		t.Errorf("rolled back: %+v, want to before seq %d", back, before.Seq)
	}
	here(exit.Done, "there is nothing to roll back", "rollback")
	here(exit.Done, "", "learn", "--to-end")
	here(exit.Done, fmt.Sprintf("seqs %d to %d are abandoned", back.ToSeq+1, before.Seq), "verify")

	file := filepath.Join(t.TempDir(), "m.export")
	out := read[history.CopyReport](t, here(exit.Done, "", "export", "--json", file))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	other := kafkatest.NewDisk(t)
	there := on(t, other.Addr)
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	there(exit.Misused, "no such file", "import", garbage+".none")
	there(exit.Refused, "truncated", "import", garbage)
	there(exit.Refused, "no learner of this model has run", "adopt")
	in := read[history.CopyReport](t, there(exit.Done, "", "import", "--json", file))
	if in.StateHash != out.StateHash || in.Seq != out.Seq || in.SHA256 != out.SHA256 || in.Records != out.Records || *in.Signed {
		t.Errorf("imported %+v, want %+v", in, out)
	}
	there(exit.Done, out.StateHash.String()[:16], "inspect")
	there(exit.Refused, "needs an empty log", "import", file)
	kafkatest.Fill(t, kafkatest.ClientOf(t, other.Addr, nil), "in", 1, values[120:300])
	there(exit.Refused, "accrete adopt", "learn", "--to-end")
	there(exit.Misused, "--topic =x", "adopt", "--topic", "=x")
	there(exit.Misused, "--at 0:x", "adopt", "--at", "0:x")
	there(exit.Refused, "none of the records 0 to 179", "adopt") // kafkatest.Fill writes other keys
	there(exit.Done, "in/0 (id", "adopt", "--at", "0:180", "--dry-run")
	if a := read[history.AdoptReport](t, there(exit.Done, "", "adopt", "--at", "0:180", "--json")); !a.Adopted || a.Rollback || a.Inputs[0].Partitions[0].Next != 180 {
		t.Errorf("adopted: %+v", a)
	}
	there(exit.Done, "there is nothing to adopt", "adopt")
	rest := func(d *kafkatest.Disk, do func(int, string, ...string) string) audit.LogReport {
		t.Helper()
		kafkatest.Fill(t, kafkatest.ClientOf(t, d.Addr, nil), "in", 1, values[300:])
		do(exit.Done, "", "learn", "--to-end")
		do(exit.Done, fmt.Sprintf("seqs %d to %d are abandoned", back.ToSeq+1, before.Seq), "verify")
		return read[audit.LogReport](t, do(exit.Done, "", "inspect", "--json", "--records", "0"))
	}
	a, b := rest(d, here), rest(other, there)
	if a.Snapshots[0].StateHash != b.Snapshots[0].StateHash {
		t.Errorf("state %v, on the other cluster %v", a.Snapshots[0].StateHash, b.Snapshots[0].StateHash)
	}
}
