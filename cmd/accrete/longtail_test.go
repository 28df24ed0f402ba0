package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// fit and a learner warn of a long tail of the labels unless the loss is one that large labels do not
// dominate.
func TestALongTailIsWarnedOf(t *testing.T) {
	addr, r := kafkatest.Addr(t), rand.New(rand.NewPCG(1, 2))
	in, text, records := kafkatest.Name("tail"), "a,y\n", []string(nil)
	for i := range 1000 {
		y := math.Exp(3 * r.NormFloat64())
		text += fmt.Sprintf("%d,%v\n", i%20, y)
		records = append(records, fmt.Sprintf(`{"a":%d,"y":%v}`, i%20, y))
	}
	kafkatest.Fill(t, kafkatest.ClientOf(t, addr, nil), in, 1, records)
	file := filepath.Join(t.TempDir(), "tail.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for loss, want := range map[string]bool{"auto": true, "square": true, "absolute:0.1": false} {
		for _, args := range [][]string{
			{"fit", file, "--loss", loss, "--algorithm", "dsg", "--max-features", "32"},
			{"learn", "--to-end", "--set", "model=" + in + loss[:4], "--set", "kafka.bootstrap.servers=" + addr, "--set", "input.topics=" + in, "--set", "input.label=y",
				"--set", "http.listen=off", "--set", "learner.loss=" + loss, "--set", "learner.algorithm=dsg", "--set", "learner.max_features=32"},
		} {
			code, _, stderr := call(t, nil, args...)
			if code != exit.Done || strings.Contains(stderr, "model of the logarithm") != want {
				t.Errorf("%v: exit code %d, want a warning: %t: %s", args, code, want, stderr)
			}
		}
	}
}
