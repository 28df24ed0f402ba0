package modellog

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestVerdictsAreReadable(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	rs, _ := j.snapshot(700)
	for _, c := range []struct {
		r          Record
		line, json string
	}{
		{claim(1, 2), `1 claim epoch 1 by "host-2", void: the current epoch is 1`, `"void":"the current epoch is 1","record":{"epoch":1,`},
		{j.batch(7), `2 batch seq 1: in-0 [1, 2), learned 0, predicted 0, quarantined 0, skipped 0`, `{"offset":2,"type":"batch","record":{"epoch":1,`},
		{rs[0], `3 chunk snapshot `, `"index":0,"count":`},
		{&Batch{Seq: 2}, `4 batch seq 2, learned 0, predicted 0,`, `{"offset":4,"type":"batch"`},
	} {
		v := j.fold.Judge(j.fold.Next(), c.r)
		b, err := json.Marshal(v)
		if err != nil || !strings.HasPrefix(v.String(), c.line) || !strings.Contains(string(b), c.json) {
			t.Errorf("%v, %s, %v, want %s, %s", v, b, err, c.line, c.json)
		}
	}
}
