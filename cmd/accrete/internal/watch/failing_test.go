package watch

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// Of two failures that alternate, each is logged at once and then every ten seconds,
// with how often it has occurred, and none is missing from the sums.
func TestFailuresAreLoggedOnceInTenSeconds(t *testing.T) {
	var out bytes.Buffer
	var f Failing
	begin := time.Unix(1e9, 0)
	for i := range 250 { // 25 s
		f.Log(zerolog.New(&out), errors.New([]string{"gone", "slow"}[i%2]), begin.Add(time.Duration(i)*100*time.Millisecond))
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.TrimSpace(line))
	}
	var want []string
	for _, times := range []string{``, `,"times":50`, `,"times":50`} {
		for _, text := range []string{"gone", "slow"} {
			want = append(want, fmt.Sprintf(`{"level":"warn","error":%q%s,"message":"temporary failure, retrying"}`, text, times))
		}
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
