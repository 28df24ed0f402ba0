package display

import "testing"

func TestOneOfAThingIsSingular(t *testing.T) {
	for _, c := range []struct {
		n          int64
		noun, want string
	}{{0, "row", "0 rows"}, {1, "class", "1 class"}, {2, "class", "2 classes"}, {1234, "snapshot", "1,234 snapshots"}} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("%d of %q: %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}
