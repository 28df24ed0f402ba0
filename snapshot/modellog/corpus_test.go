package modellog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/snapshot"
)

// TestOldLogsAreRead reads logs that earlier releases have written, and obtains
// the same results as those releases.
func TestOldLogsAreRead(t *testing.T) {
	logs, err := filepath.Glob("testdata/logs/*.jsonl.gz")
	if err != nil || len(logs) == 0 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	for _, path := range logs {
		name := strings.TrimSuffix(path, ".jsonl.gz")
		t.Run(filepath.Base(name), func(t *testing.T) { readOldLog(t, name) })
	}
}

func readOldLog(t *testing.T, name string) {
	var want struct {
		Records     int             `json:"records"`
		Void        []int64         `json:"void"`
		Epoch       int64           `json:"epoch"`
		Seq         int64           `json:"seq"`
		Chain       snapshot.Hash   `json:"chain"`
		Released    int64           `json:"released"`
		States      []snapshot.Hash `json:"state_hashes"`
		Challengers []snapshot.Hash `json:"challengers"`
		Signed      []bool          `json:"signed"`
	}
	b, err := os.ReadFile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	key, err := config.ReadVerifyingKey(name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{t: t, values: readJSONLines(t, name+".jsonl.gz")}
	f := NewFold(0, 1000)
	var void []int64
	for i, kv := range j.values {
		v, err := f.Add(int64(i), kv[0], kv[1])
		if err != nil {
			t.Fatal(err)
		}
		if !v.Counts() {
			void = append(void, v.Offset)
		}
	}
	if len(j.values) != want.Records || !slices.Equal(void, want.Void) || f.Broken() != nil {
		t.Errorf("%d records, void %v, broken: %v, want %d, void %v", len(j.values), void, f.Broken(), want.Records, want.Void)
	}
	if f.Claim().Epoch != want.Epoch || f.Seq() != want.Seq || f.Chain() != want.Chain || f.Released() != want.Released {
		t.Errorf("epoch %d, seq %d, chain %v, released %d", f.Claim().Epoch, f.Seq(), f.Chain(), f.Released())
	}
	chunks := func(at []int64) (values [][]byte) {
		for _, i := range at {
			values = append(values, j.values[i][1])
		}
		return values
	}
	var states, challengers []snapshot.Hash
	for i, s := range f.Snapshots() {
		file, err := Assemble(s.Manifest, chunks(s.Chunks), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := snapshot.Decode(file, 0)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, snapshot.StateHash(got.Schema, got.State))
		if err := s.Manifest.Verify(key); (err == nil) != want.Signed[i] {
			t.Errorf("snapshot at seq %d: %v, want it signed: %v", s.Manifest.Seq, err, want.Signed[i])
		}
		for _, options := range [][]Option{nil, {WithKey(key)}} {
			if options != nil && !want.Signed[i] {
				continue
			}
			f := j.from(s.Manifest.Start.Offset, 3, options...)
			if f.Seq() != want.Seq || f.Chain() != want.Chain || f.Broken() != nil || f.Genesis() != (Origin{Versions: Versions{1, 1}}) {
				t.Errorf("read from %d: seq %d, chain %v, %v", s.Manifest.Start.Offset, f.Seq(), f.Chain(), f.Broken())
			}
		}
	}
	for _, c := range f.Challengers() {
		part, err := AssembleServing(&c.Challenger.Manifest, chunks(c.Chunks)[:c.Challenger.ServingChunks()], 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := snapshot.DecodeServing(part, 0)
		if err != nil {
			t.Fatal(err)
		}
		challengers = append(challengers, got.StateHash)
		if err := c.Challenger.Verify(key); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(states, want.States) || !slices.Equal(challengers, want.Challengers) {
		t.Errorf("states %v and %v, want %v and %v", states, challengers, want.States, want.Challengers)
	}
}

// readJSONLines reads the keys and values of a log with offsets from 0.
func readJSONLines(t *testing.T, path string) (values [][2][]byte) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 2*maxRecord)
	for lines.Scan() {
		var r struct {
			Offset int    `json:"offset"`
			Key    string `json:"key"`
			Value  []byte `json:"value"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Offset != len(values) {
			t.Fatalf("offset %d of %d, %v", r.Offset, len(values), err)
		}
		values = append(values, [2][]byte{[]byte(r.Key), r.Value})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// FuzzFold passes whole logs to a fold, one JSON record a line, keyed by its
// type. No input may cause a panic, or an error other than that of a later
// version. A broken log stays broken until a ROLLBACK or a MANIFEST, and the seq
// never decreases.
func FuzzFold(f *testing.F) {
	for _, r := range records(f) {
		_, value, _ := Encode(r)
		_, claim, _ := Encode(&Claim{Owner: anyone, Versions: Versions{2, 1}})
		f.Add(slices.Concat(claim, []byte("\n"), value, []byte("\n"), value))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		for begin := range int64(2) {
			fold := NewFold(begin, 1)
			for line := range bytes.Lines(log) {
				var head struct {
					Type string `json:"type"`
				}
				line = bytes.TrimSuffix(line, []byte("\n"))
				_ = json.Unmarshal(line, &head)
				broken, seq := fold.Broken(), fold.Seq()
				v, err := fold.Add(fold.Next(), []byte(head.Type), line)
				_ = v.String()
				if err != nil {
					if !errors.Is(err, snapshot.ErrTooNew) {
						t.Fatal(err)
					}
					return
				}
				if now := fold.Broken(); broken != nil && now != broken && head.Type != "rollback" && head.Type != "manifest" || fold.Seeded() && fold.Seq() < seq {
					t.Fatalf("%s: broken %v, then %v; at seq %d, then %d", line, broken, now, seq, fold.Seq())
				}
			}
		}
	})
}
