package oracle_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/test/oracle"
)

// spoiled is a valid world in which one thing will be broken.
type spoiled struct {
	*testing.T
	*oracle.World
}

func (w spoiled) replace(r *oracle.Record, old, new string) {
	if !strings.Contains(string(r.Value), old) {
		w.Fatalf("%s has no %s", r.Value, old)
	}
	r.Value = []byte(strings.Replace(string(r.Value), old, new, 1))
}

// at returns the index in the log of a record of the given type, back such
// records before the last one.
func (w spoiled) at(typ string, back int) int {
	for i := len(w.Log) - 1; i >= 0; i-- {
		if string(w.Log[i].Key) == typ {
			if back--; back < 0 {
				return i
			}
		}
	}
	w.Fatalf("no %s", typ)
	return 0
}

func (w spoiled) last(typ string) *oracle.Record { return &w.Log[w.at(typ, 0)] }

// appended appends a copy of a record to the log.
func (w spoiled) appended(r oracle.Record) *oracle.Record {
	r.Value = bytes.Clone(r.Value)
	r.Offset = w.Log[len(w.Log)-1].Offset + 1
	w.Log = append(w.Log, r)
	return &w.Log[len(w.Log)-1]
}

// renumber closes a gap in the offsets, like a broker that reassigns the offsets.
func (w spoiled) renumber() {
	for i := range w.Log {
		w.Log[i].Offset = int64(i)
	}
}

func (w spoiled) input() []oracle.Record {
	for _, rs := range w.Inputs {
		return rs
	}
	panic("no input")
}

// TestOracleSeesEveryChange breaks a valid world in one place at a time.
func TestOracleSeesEveryChange(t *testing.T) {
	good := rightWorld(t)
	for name, spoil := range map[string]func(w spoiled){
		"a prediction is missing": func(w spoiled) { w.Predictions = w.Predictions[1:] },
		"a prediction differs":    func(w spoiled) { w.replace(&w.Predictions[200], `"step":`, `"step":1`) },
		"a prediction of another BATCH": func(w spoiled) {
			hs := slices.Clone(w.Predictions[100].Headers)
			i := slices.IndexFunc(hs, func(h oracle.Header) bool { return h.Key == "ce_sequence" })
			hs[i].Value = []byte("99")
			w.Predictions[100].Headers = hs
		},
		"a prediction of another input":  func(w spoiled) { w.replace(&w.Predictions[200], `"learned_to":"`, `"learned_to":"0`) },
		"a prediction under another key": func(w spoiled) { w.Predictions[7].Key = []byte("another") },
		"a prediction at another time":   func(w spoiled) { w.Predictions[7].Time++ },
		"a prediction of nothing":        func(w spoiled) { w.Predictions[7].Headers = nil },
		"a copy differs": func(w spoiled) {
			w.Predictions = append(w.Predictions, w.Predictions[3])
			w.Predictions[3].Time++
		},
		"nothing in quarantine":         func(w spoiled) { w.Quarantine = nil },
		"another value in quarantine":   func(w spoiled) { w.replace(&w.Quarantine[0], `1`, `2`) },
		"a good record in quarantine":   func(w spoiled) { w.Quarantine[0].Headers[2].Value = []byte("0") },
		"a manifest of another state":   func(w spoiled) { w.replace(w.last("manifest"), `"state_hash":"`, `"state_hash":"0`) },
		"a manifest of another seq":     func(w spoiled) { w.replace(w.last("manifest"), `"seq":`, `"seq":1`) },
		"a chunk is damaged":            func(w spoiled) { w.last("chunk").Value[100] ^= 1 },
		"a chunk of another index":      func(w spoiled) { w.last("chunk").Value[48] ^= 1 },
		"another history of the input":  func(w spoiled) { w.replace(&w.input()[100], "0.", "1.") },
		"another topic of the input":    func(w spoiled) { w.IDs = map[string][16]byte{w.first().Topic: {1}} },
		"a record of the input is gone": func(w spoiled) { p := w.first(); w.Inputs[p] = w.Inputs[p][1:] },
		"a BATCH counts others":         func(w spoiled) { w.replace(w.last("batch"), `"learned":`, `"learned":1`) },
		"the log has lost its tail":     func(w spoiled) { w.Log = w.Log[:w.at("batch", 0)] },
		"a longer tail":                 func(w spoiled) { w.Log = w.Log[:w.at("batch", 3)] },
		"the log has lost its head":     func(w spoiled) { w.Log = w.Log[w.at("manifest", 1):] },
		"the log lacks a record":        func(w spoiled) { i := w.at("batch", 1); w.Log = slices.Delete(w.Log, i, i+1) },
		"a missing record that nothing reports": func(w spoiled) {
			i := w.at("manifest", 0)
			w.Log = slices.Insert(w.Log, i, w.Log[i])
			for k := range w.Log[i:] {
				w.Log[i+k].Offset += 2
			}
		},
		"a tail was lost, and it went on": func(w spoiled) { i := w.at("batch", 2); w.Log = slices.Delete(w.Log, i, i+1); w.renumber() },
		"a seq is used again": func(w spoiled) {
			w.replace(w.appended(w.Log[w.at("batch", 1)]), `"learned":`, `"learned":1`)
		},
		"a seq is left out": func(w spoiled) { w.replace(w.last("batch"), `"seq":`, `"seq":9`) },
		"another chain":     func(w spoiled) { w.replace(w.last("batch"), `"chain":"`, `"chain":"0`) },
		"a log in another topic": func(w spoiled) {
			r := w.appended(w.Log[w.at("claim", 0)])
			w.replace(r, `"epoch":`, `"topic_id":"AQAAAAAAAAAAAAAAAAAAAA","epoch":9`)
			w.LogID = [16]byte{2}
		},
		"a record of nobody":            func(w spoiled) { w.replace(w.appended(*w.last("batch")), `"nonce":"`, `"nonce":"00`) },
		"a forged BATCH":                func(w spoiled) { w.replace(w.appended(*w.last("batch")), `"seq":`, `"seq":1`) },
		"a forged RELEASED":             func(w spoiled) { w.forged("released") },
		"a forged RESUME":               func(w spoiled) { w.forged("resume") },
		"a forged PAUSE":                func(w spoiled) { w.forged("pause") },
		"a forged GENESIS":              func(w spoiled) { w.forged("genesis") },
		"a forged ROLLBACK":             func(w spoiled) { w.forged("rollback") },
		"a forged MANIFEST":             func(w spoiled) { w.replace(w.appended(*w.last("manifest")), `"step":`, `"step":1`) },
		"a record of a type of its own": func(w spoiled) { w.forged("another") },
		"another CONFIG":                func(w spoiled) { w.replace(w.forged("config"), `"ranges":`, `"config":{},"ranges":`) },
		"what is no record":             func(w spoiled) { w.appended(oracle.Record{Key: []byte("batch"), Value: []byte("{")}) },
		"a record under another's key":  func(w spoiled) { w.appended(*w.last("batch")).Key = []byte("gap") },
		"a chunk of no snapshot":        func(w spoiled) { w.appended(*w.last("chunk")).Value[70] ^= 1 },
		"a challenger without its model": func(w spoiled) {
			r := w.appended(*w.last("manifest"))
			r.Key = []byte("challenger")
			w.replace(r, `"manifest"`, `"challenger"`)
		},
	} {
		w := copied(good)
		spoil(spoiled{t, &w})
		if r := oracle.Check(w); r.Divergences+r.Lost+r.Differing == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}

func (w spoiled) first() oracle.Partition {
	for p := range w.Inputs {
		return p
	}
	panic("no input")
}

// forged appends a record of a type under the valid claim.
func (w spoiled) forged(typ string) *oracle.Record {
	r := w.appended(*w.last("batch"))
	r.Key = []byte(typ)
	w.replace(r, `"batch"`, `"`+typ+`"`)
	w.replace(r, `"seq":`, `"seq":1`)
	return r
}

// TestOracleAccountsForLateCopies: late copies are void, and not faults.
func TestOracleAccountsForLateCopies(t *testing.T) {
	w := rightWorld(t)
	s := spoiled{t, &w}
	for _, typ := range []string{"batch", "config", "claim", "manifest", "chunk"} {
		s.appended(*s.last(typ))
	}
	r := oracle.Check(w)
	if r.Divergences != 0 || r.Lost != 0 || r.Void < 4 {
		t.Errorf("%+v", r)
	}
}

func clone(rs []oracle.Record) []oracle.Record {
	out := make([]oracle.Record, len(rs))
	for i, r := range rs {
		out[i] = r
		out[i].Value = bytes.Clone(r.Value)
		out[i].Headers = slices.Clone(r.Headers)
	}
	return out
}
