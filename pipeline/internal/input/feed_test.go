package input

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
)

func TestRecordsThatTheBrokerLostBecomeGaps(t *testing.T) {
	at := func(offsets ...int64) (rs []ingest.Record) {
		for _, o := range offsets {
			rs = append(rs, ingest.Record{Offset: o})
		}
		return rs
	}
	gaps := func(ends ...int64) (hs []ingest.Gap) {
		for ; len(ends) > 0; ends = ends[2:] {
			hs = append(hs, ingest.Gap{From: ends[0], To: ends[1]})
		}
		return hs
	}
	show := func(ps []arrival) (out []string) {
		for _, p := range ps {
			s := fmt.Sprint(p.Next)
			if p.lost {
				s += " lost"
			}
			for _, r := range p.Records {
				s += fmt.Sprint(" ", r.Offset)
			}
			out = append(out, s)
		}
		return out
	}
	for _, c := range []struct {
		got  ingest.Fetched
		end  int64
		want []string
	}{
		{ingest.Fetched{Records: at(1, 2), Next: 4}, 9, []string{"4 1 2"}},
		{ingest.Fetched{Records: at(1, 2, 5, 6), Next: 8, Missing: gaps(3, 5)}, 9, []string{"3 1 2", "5 lost", "8 5 6"}},
		{ingest.Fetched{Records: at(5), Next: 8, Missing: gaps(1, 5, 6, 8)}, 9, []string{"5 lost", "6 5", "8 lost"}},
		{ingest.Fetched{Records: at(5), Next: 8, Missing: gaps(1, 5, 6, 8)}, 7, []string{"5 lost", "6 5", "7 lost"}},
		{ingest.Fetched{Records: at(1, 5), Next: 6, Missing: gaps(2, 5)}, 2, []string{"2 1"}},
	} {
		if got := show(split(0, until(c.got, c.end))); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v up to %d: %q, want %q", c.got, c.end, got, c.want)
		}
	}
}
