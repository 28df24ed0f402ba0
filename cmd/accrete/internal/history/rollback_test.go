package history

import "testing"

func TestRollbackOfNothingAbandonsNoSeq(t *testing.T) {
	for _, test := range []struct {
		from, to int64
		want     string
	}{
		{61, 60, "no seq is abandoned"},
		{61, 61, "seqs 61 to 61 are abandoned"},
		{61, 70, "seqs 61 to 70 are abandoned"},
	} {
		if got := abandoned(test.from, test.to); got != test.want {
			t.Errorf("%d to %d: %q, want %q", test.from, test.to, got, test.want)
		}
	}
}
