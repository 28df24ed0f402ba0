package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// A value out of its range is refused by every command in the same words: the flag, its value, and the
// range.
func TestValuesOutOfRangeAreRefusedAlike(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(rows, []byte("a,y\n1,p\n2,q\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"fit ROWS --minibatch -1", "fit ROWS --minibatch 99999", "fit ROWS --max-features 0", "fit ROWS --lambda -1", "fit ROWS --lambda 3", "fit ROWS --seed 0",
		"fit ROWS --block-size -1", "fit ROWS --lags -1", "fit ROWS --folds 1", "fit ROWS --monitor 3", "fit ROWS --sparse 3", "fit ROWS --intervals 2",
		"fit ROWS --effort 9999", "fit ROWS --forest -1", "fit ROWS --time a --half-life 1ns", "fit ROWS --precision 0", "fit ROWS --task novelty --nu 2",
		"fit ROWS --algorithm dsg --step-size -1", "fit ROWS --algorithm dsg --theta -1", "fit ROWS --algorithm udsg --new-steps -1", "fit ROWS --algorithm udsg --old-steps -1", "fit ROWS --algorithm cdsg --longest-step 0.5",
		"fit ROWS --refit --prune 1", "fit ROWS --refit --window 1", "fit ROWS --refit --tolerance 0", "fit ROWS --refit --penalty -1", "fit ROWS --refit --coordinates -1",
		"metric ROWS --rows 1", "metric ROWS --tolerance 0", "metric ROWS --shared -1", "metric ROWS --own -1",
		"bench --orders 0", "bench --starts 101", "bench --rare 0.6", "bench --rows -1", "bench --intervals 2", "bench --paper dspdc --seconds 0",
		"metric ROWS --window 1", "metric ROWS --own +Inf", "fit ROWS --refit --penalty +Inf", "refit --tolerance NaN",
		"refit --window -1", "refit --window 0", "refit --tolerance -1", "refit --tolerance 0", "refit --prune 1", "refit --penalty -1", "refit --penalty 0", "inspect --records -1", "rollback --to -1", "rollback --to-seq -1",
		"feed ROWS --partitions 0", "feed ROWS --rate -1", "feed ROWS --rate NaN", "feed ROWS --rate +Inf",
		"compare ROWS --rows 3", "lint --sample 0", "init --sample 0", "tail --last -1", "top --every 1ms", "doctor --timeout 0s", "demo --for 0s",
		"quarantine replay --from -1", "quarantine replay --limit -1", "quarantine replay --from 5 --to 3", "quarantine show 1 --bytes -1",
	} {
		words := strings.Fields(strings.ReplaceAll(line, "ROWS", rows))
		last := len(words) - 1
		flag, value := words[last-1], words[last]
		joined := append(slices.Clone(words[:last-1]), flag+"="+value)
		want := fmt.Sprintf(`^accrete: ([a-z ]+: )?%s is "?%s( s)?"?: want (0 \(none\), or |0 for the default, or |more than |default, auto, or |auto, or )?[0-9a-z]`, flag, regexp.QuoteMeta(strings.Replace(value, "1ns", "1e-09", 1)))
		for _, words := range [][]string{words, joined} {
			if code, _, stderr := call(t, nil, words...); code != exit.Misused || !regexp.MustCompile(want).MatchString(stderr) {
				t.Errorf("%s: exit code %d, %q", words, code, stderr)
			}
		}
	}
}
