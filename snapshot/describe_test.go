package snapshot

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDescribeTellsWhatIsThere(t *testing.T) {
	file := encode(t, sample())
	d, err := Describe(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"format":"1.0"`, `"model":"fraud"`, `"step":12`, `"kernel":"gaussian:2.5"`, `"time":"2027-01-15T08:00:00Z"`,
		`"state_hash":"` + StateHash(sample().Schema, sample().State).String() + `"`,
		`{"kind":"array","name":"kernel","serving":true,"type":"bytes","shape":[12,1],`, `"values":"gaussian:2.5"`,
		`{"kind":"array","name":"count","serving":false,"type":"int64","shape":[1,3],`,
		`{"topic":"payments","topic_id":"AQIAAAAAAAAAAAAAAAAAAw","partition":0,"next":1099511627776,"fingerprint":"18446744073709551615"}`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
	if strings.Contains(string(b), "damage") {
		t.Errorf("a whole file is described as damaged: %s", b)
	}
	// A file cut after the serving part: the remaining parts are still described.
	d, err = Describe(file[:d.ServingSize], 0)
	if !typed(err) || d == nil || d.Damage == "" || d.Model != "fraud" || d.Sections[0].Damaged || !d.Sections[len(d.Sections)-1].Damaged {
		t.Errorf("a file cut short: %+v, %v", d, err)
	}
}
