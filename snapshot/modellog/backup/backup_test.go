package backup

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// sample returns a file with one record of each of some types.
func sample(t testing.TB) []byte {
	t.Helper()
	o := modellog.Owner{Epoch: 3, Nonce: snapshot.ID{7}}
	var b bytes.Buffer
	h := Header{Model: "fraud", Writer: "v1", Seq: 2, Begin: Begin{Versions: modellog.Versions{Arithmetic: 1, Decoder: 1}}}
	h.Snapshot = &Snapshot{Seq: 1, Step: 2, StateHash: snapshot.Hash{3}}
	w, err := NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range []modellog.Record{
		&modellog.Config{Owner: o, Config: []byte(`{"a":"<&>"}`)},
		&modellog.Gap{Owner: o, Seq: 1, Topic: "in", From: 1, To: 9},
		&modellog.Chunk{Owner: o, Count: 1, Data: []byte("data")},
		&modellog.Adopt{Owner: o, Seq: 2, Inputs: []modellog.Adopted{{Topic: "in", NewTopic: "out", Partitions: []modellog.AdoptedPartition{{From: 9, Next: 8, Fingerprint: 1 << 63}}}}, By: "me"},
	} {
		key, value, err := modellog.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(int64(10+i), int64(1000+i), key, value); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns all records of a file.
func read(b []byte) (h Header, rs []Record, err error) {
	r, err := NewReader(bytes.NewReader(b))
	if err != nil {
		return h, nil, err
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return r.Header, rs, nil
		}
		if err != nil {
			return r.Header, rs, err
		}
		rs = append(rs, rec)
	}
}

func write(h Header, rs []Record) ([]byte, error) {
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	if err != nil {
		return nil, err
	}
	for _, r := range rs {
		key, value, err := modellog.Encode(r.Record)
		if err != nil {
			return nil, err
		}
		if err := w.Add(r.Offset, r.Time, key, value); err != nil {
			return nil, err
		}
	}
	_, _, err = w.Close()
	return b.Bytes(), err
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	file := sample(t)
	h, rs, err := read(file)
	if err != nil || len(rs) != 4 || h.Model != "fraud" || rs[3].Offset != 13 || rs[3].Time != 1003 {
		t.Fatalf("%+v, %+v, %v", h, rs, err)
	}
	if again, err := write(h, rs); err != nil || !bytes.Equal(again, file) {
		t.Errorf("written again, the file differs: %v", err)
	}
}

var flaws = []error{snapshot.ErrCorrupt, snapshot.ErrTruncated, snapshot.ErrTooNew, snapshot.ErrLimit, snapshot.ErrMismatch}

func flawed(err error) bool {
	for _, f := range flaws {
		if errors.Is(err, f) {
			return true
		}
	}
	return false
}

func TestEveryDamageIsFound(t *testing.T) {
	file := sample(t)
	for n := range file {
		if _, _, err := read(file[:n]); !errors.Is(err, snapshot.ErrTruncated) {
			t.Errorf("cut to %d of %d bytes: %v", n, len(file), err)
		}
		for bit := range 8 {
			b := bytes.Clone(file)
			b[n] ^= 1 << bit
			if h, rs, err := read(b); err == nil {
				// Time, name and operating system in the header of gzip are not checked, nor needed.
				if again, err := write(h, rs); err != nil || !bytes.Equal(again, file) {
					t.Errorf("bit %d of byte %d is flipped, and it is not found", bit, n)
				}
			} else if !flawed(err) {
				t.Errorf("bit %d of byte %d is flipped: %v", bit, n, err)
			}
		}
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func plain(t testing.TB, b []byte) string {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLinesThatCannotBeKeptAreRefused(t *testing.T) {
	text := plain(t, sample(t))
	for _, x := range []struct {
		old, now string
		want     error
	}{
		{`"version":1,"model"`, `"version":2,"model"`, snapshot.ErrTooNew},
		{`"format":"accrete export"`, `"format":"accrete"`, snapshot.ErrCorrupt},
		{`"model":"fraud"`, `"model":"a b"`, snapshot.ErrCorrupt},
		{`"seq":1,"chain"`, `"seq":1,"more":true,"chain"`, snapshot.ErrTooNew},
		{`"type":"gap","version":1`, `"type":"gap","version":2`, snapshot.ErrTooNew},
		{`"type":"gap","record"`, `"type":"batch","record"`, snapshot.ErrCorrupt},
		{`{"offset":11,`, `{"offset":10,`, snapshot.ErrCorrupt},
		{`"records":4`, `"records":5`, snapshot.ErrCorrupt},
		{`"time":1001`, `"time":1009`, snapshot.ErrCorrupt},
		{`{"offset":11,`, strings.Repeat(" ", maxLine) + `{"offset":11,`, snapshot.ErrLimit},
	} {
		b := strings.Replace(text, x.old, x.now, 1)
		if b == text {
			t.Fatalf("the sample has no %s", x.old)
		}
		if _, _, err := read(zipped(b)); !errors.Is(err, x.want) {
			t.Errorf("%.50q for %.50q: %v, want %v", x.now, x.old, err, x.want)
		}
	}
}

// FuzzRead reads the text of a file, uncompressed. What is accepted can be written
// again and is then the same.
func FuzzRead(f *testing.F) {
	text := plain(f, sample(f))
	f.Add(text)
	lines := strings.SplitAfter(text, "\n")
	f.Add(lines[0])
	f.Add(lines[0] + lines[len(lines)-2])
	f.Fuzz(func(t *testing.T, text string) {
		h, rs, err := read(zipped(text))
		if err != nil {
			if !flawed(err) {
				t.Errorf("%v", err)
			}
			return
		}
		b, err := write(h, rs)
		if err != nil {
			t.Fatal(err)
		}
		h2, rs2, err := read(b)
		if err != nil || !reflect.DeepEqual(h2, h) || !reflect.DeepEqual(rs2, rs) {
			t.Errorf("read %+v, written and read again %+v, %v", rs, rs2, err)
		}
	})
}
