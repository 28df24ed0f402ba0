package oracle

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// predictions compares the topic with the computed predictions.
func (o *oracle) predictions() {
	first := map[answer]Record{}
	lost := len(o.want)
	for _, r := range o.world.Predictions {
		seq, err := strconv.ParseInt(r.Header("ce_sequence"), 10, 64)
		a := answer{r.Header("ce_id"), seq}
		want, live := o.want[a]
		gone := false
		if !live {
			want, gone = o.gone[a]
		}
		switch {
		case err == nil && !live && (gone || o.isTaken(seq)):
			o.Abandoned++
		case !live:
			o.fault("a prediction for %q in BATCH %q, which no such BATCH has", a.id, r.Header("ce_sequence"))
			continue
		}
		if was, again := first[a]; again {
			o.Duplicates++
			if !same(was, r) {
				o.Differing++
				o.note("%s was predicted as %s and as %s", a.id, was.Value, r.Value)
			}
			continue
		}
		first[a] = r
		if live {
			lost--
		}
		if live || gone {
			o.compare(a.id, want, r)
		}
	}
	if o.Lost += int64(lost); lost > 0 {
		o.note("%d of %d records have no prediction", lost, len(o.want))
	}
}

// compare compares a prediction with the expected one.
func (o *oracle) compare(id string, want expected, r Record) {
	var got map[string]any
	if err := json.Unmarshal(r.Value, &got); err != nil {
		o.fault("%s was predicted as %s: %v", id, r.Value, err)
		return
	}
	if n, ok := got["probabilities_truncated"].(float64); ok {
		want.value = likeliest(want.value, got, int(n))
	}
	switch {
	case !reflect.DeepEqual(got, want.value):
		o.fault("%s was predicted as %s, want %v", id, r.Value, want.value)
	case !intact(want.key, r.Key, r.Header("accrete.truncated.key")):
		o.fault("the prediction for %s has the key %.100q, want %.100q", id, r.Key, want.key)
	case r.Time != want.time:
		o.fault("the prediction for %s has the time %d, the record %d", id, r.Time, want.time)
	}
}

// likeliest returns want with only those probabilities that got has, if they are the largest ones
// and n others are missing. Otherwise it returns want unchanged.
func likeliest(want, got map[string]any, n int) map[string]any {
	all, _ := want["probabilities"].(map[string]any)
	some, _ := got["probabilities"].(map[string]any)
	if len(some)+n != len(all) {
		return want
	}
	least := 2.
	for name := range some {
		if p, ok := all[name].(float64); ok {
			least = min(least, p)
		}
	}
	kept := map[string]any{}
	for name, p := range all {
		if _, ok := some[name]; ok {
			kept[name] = p
		} else if p.(float64) > least {
			return want
		}
	}
	out := map[string]any{}
	for name, v := range want {
		out[name] = v
	}
	out["probabilities_truncated"] = float64(n)
	if out["probabilities"] = kept; len(kept) == 0 {
		delete(out, "probabilities")
	}
	return out
}

// intact reports whether got equals want. If note has the length and the hash of want, got must be
// a shorter prefix of want instead.
func intact(want, got []byte, note string) bool {
	if note == "" {
		return bytes.Equal(want, got) && (want == nil) == (got == nil)
	}
	return bytes.HasPrefix(want, got) && len(got) < len(want) && note == fmt.Sprintf("%d sha256=%x", len(want), sha256.Sum256(want))
}

func (o *oracle) quarantined() {
	first := map[string]bool{}
	for _, r := range o.world.Quarantine {
		id := r.Header("__connect.errors.topic") + "-" + r.Header("__connect.errors.partition") + "-" + r.Header("__connect.errors.offset")
		want, ok := o.quarantine[id]
		switch {
		case !ok && len(o.taken) > 0 && o.Decided[id] == 0: // its BATCH was revoked
			o.Abandoned++
			continue
		case !ok:
			o.fault("%q is in quarantine, and nothing is wrong with it", id)
		case !intact(want.Value, r.Value, r.Header("accrete.truncated.value")), !intact(want.Key, r.Key, r.Header("accrete.truncated.key")):
			o.fault("%s came into quarantine as %.200q: %.200q, it is %.200q: %.200q", id, r.Key, r.Value, want.Key, want.Value)
		case first[id]:
			o.Duplicates++
		}
		first[id] = true
	}
	for id := range o.quarantine {
		if !first[id] && o.Decided[id] != 0 {
			o.Lost++
			o.note("%s is not in quarantine", id)
		}
	}
}

// Header returns the first header of a key, empty if there is none.
func (r Record) Header(key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// same reports whether two records are equal except for their offset.
func same(a, b Record) bool {
	a.Offset, b.Offset = 0, 0
	return reflect.DeepEqual(a, b)
}
