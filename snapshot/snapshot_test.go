package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

var write = flag.Bool("write", false, "write golden files that are not there yet")

func hash(s string) Hash { return sha([]byte(s)) }

// sample returns a snapshot with every kind of section and array, an empty array,
// numbers that are easily lost (-0, NaN, the smallest and largest), and paddings
// of many lengths.
func sample() *Snapshot {
	return &Snapshot{
		Model: "fraud", Epoch: 3, Seq: 17, Step: 12,
		Chain: hash("chain"), Lineage: hash("lineage"), Rows: hash("rows"), ConfigHash: hash("config"),
		Config: []byte(`{"learner":{"kernel":"gaussian:2.5","seed":1}}`),
		Schema: []byte(`{"columns":["amount","a b"],"task":"classification","classes":["ok","<fraud>"]}`),
		State: learner.State{
			Serving: []learner.Array{
				{Name: "kernel", Shape: [2]int{12, 1}, Data: []byte("gaussian:2.5")},
				{Name: "coef", Shape: [2]int{4, 3}, Data: []float32{1, -2, 3, float32(math.Copysign(0, -1)), 5, 6, 7, 8, 9, 10, math.MaxFloat32, math.SmallestNonzeroFloat32}},
				{Name: "none", Shape: [2]int{0, 3}, Data: []float32{}},
			},
			Resuming: []learner.Array{
				{Name: "count", Shape: [2]int{1, 3}, Data: []int64{-1, math.MinInt64, math.MaxInt64}},
				{Name: "member.0/pending", Shape: [2]int{2, 2}, Data: []float64{math.Inf(1), 1e-300, math.Copysign(0, -1), math.Pi}},
			},
		},
		Positions: []Position{
			{Topic: "payments", TopicID: TopicID{1, 2, 15: 3}, Partition: 0, Next: 1 << 40, Fingerprint: math.MaxUint64},
			{Topic: "payments", TopicID: TopicID{1, 2, 15: 3}, Partition: 1, Next: 0},
		},
		LearnedTo: []Position{{Topic: "payments", TopicID: TopicID{1, 2, 15: 3}, Partition: 0, Next: 99, Fingerprint: 7}},
		Info:      Info{Writer: "accrete 0.1.0", Time: 1800000000000},
	}
}

func encode(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	b, err := Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func typed(err error) bool {
	n := 0
	for _, e := range []error{ErrTooNew, ErrCorrupt, ErrTruncated, ErrLimit, ErrMismatch} {
		if errors.Is(err, e) {
			n++
		}
	}
	return n == 1
}

// TestGolden reads one file for each released version of the format. A file in
// testdata is never rewritten; new versions only add files.
func TestGolden(t *testing.T) {
	want := sample()
	want.StateHash = StateHash(want.Schema, want.State)
	file := filepath.Join("testdata", "v1.snap")
	if _, err := os.Stat(file); err != nil && *write {
		if err := os.WriteFile(file, encode(t, want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b, 0)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, %v, want %+v", file, got, err, want)
	}
	if !bytes.Equal(encode(t, want), b) {
		t.Errorf("%s: Append writes the same snapshot otherwise", file)
	}
	const state = "20cc91e8695a1b173124291d2d5855bff8d206b44b5b6020b976ca84054a58a4"
	if got.StateHash.String() != state {
		t.Errorf("state hash %v, want %v", got.StateHash, state)
	}
}

func TestAppendAppends(t *testing.T) {
	b, err := Append([]byte("before"), sample())
	if err != nil || string(b[:6]) != "before" || !bytes.Equal(b[6:], encode(t, sample())) {
		t.Errorf("Append to a prefix: %v", err)
	}
	empty := new(Snapshot)
	got, err := Decode(encode(t, empty), 0)
	if err != nil {
		t.Fatalf("the zero snapshot: %v", err)
	}
	empty.StateHash = StateHash(nil, learner.State{})
	if !reflect.DeepEqual(got, empty) {
		t.Errorf("the zero snapshot came back as %+v", got)
	}
}

func TestServingPartIsReadableAlone(t *testing.T) {
	s := sample()
	file := encode(t, s)
	f, err := open(file, 0)
	if err == nil {
		err = f.verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	want := *s
	want.StateHash = StateHash(s.Schema, s.State)
	want.Positions, want.State.Resuming, want.Info = nil, nil, Info{}
	for n := range len(file) + 1 {
		got, err := DecodeServing(file[:n:n], 0)
		if int64(n) < f.serving {
			if !errors.Is(err, ErrTruncated) {
				t.Errorf("%d of %d bytes: %v", n, f.serving, err)
			}
		} else if err != nil || !reflect.DeepEqual(got, &want) {
			t.Errorf("%d of %d bytes: %+v, %v", n, f.serving, got, err)
		}
	}
	for i := range f.serving {
		bad := bytes.Clone(file[:f.serving])
		bad[i] ^= 1 << (i % 8)
		if _, err := DecodeServing(bad, 0); !typed(err) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
	}
}

func TestDecodeRefusesEveryDamage(t *testing.T) {
	file := encode(t, sample())
	for n := range file {
		if _, err := Decode(file[:n:n], 0); !errors.Is(err, ErrTruncated) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	bad := bytes.Clone(file)
	for i := range bad {
		for bit := range 8 {
			bad[i] ^= 1 << bit
			if _, err := Decode(bad, 0); !errors.Is(err, ErrCorrupt) || !typed(err) {
				t.Errorf("bit %d of byte %d flipped: %v", bit, i, err)
			}
			bad[i] ^= 1 << bit
		}
	}
	if _, err := Decode(append(bad, 0), 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte behind the end: %v", err)
	}
}

func TestDecodeNamesTheDamagedSection(t *testing.T) {
	file := encode(t, sample())
	f, _ := open(file, 0)
	for _, sec := range f.sections {
		if sec.length == 0 {
			continue
		}
		bad := bytes.Clone(file)
		bad[sec.offset+sec.length-1]++
		_, err := Decode(bad, 0)
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(sec.String())) {
			t.Errorf("%v damaged: %v", sec, err)
		}
		if d, _ := Describe(bad, 0); d == nil || d.Damage == "" {
			t.Errorf("%v damaged: described as whole", sec)
		}
	}
}

// reseal corrects all checksums and hashes of a file, so that a test reaches the
// checks after them.
func reseal(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) < PreambleSize {
		return b
	}
	le := binary.LittleEndian
	n := int64(len(b))
	serving, header, sections := int64(le.Uint64(b[24:])), int64(le.Uint32(b[32:])), int64(le.Uint32(b[36:]))
	for i := range min(sections, maxSections) {
		at := PreambleSize + header + i*entrySize
		if at+entrySize > n {
			break
		}
		off, length := int64(le.Uint64(b[at+48:])), int64(le.Uint64(b[at+56:]))
		if off >= 0 && length >= 0 && off <= n && length <= n-off {
			le.PutUint32(b[at+28:], crc32.Checksum(b[off:off+length], castagnoli))
		}
	}
	if table := PreambleSize + header + sections*entrySize; table <= n {
		le.PutUint32(b[44:], crc32.Checksum(b[PreambleSize:table], castagnoli))
	}
	le.PutUint32(b[124:], crc32.Checksum(b[:124], castagnoli))
	if serving >= SealSize && serving <= n {
		sum := sha(b[:serving-SealSize])
		copy(b[serving-SealSize:], sum[:])
	}
	if n > PreambleSize+trailerSize {
		sum := sha(b[:n-trailerSize])
		copy(b[n-trailerSize:], sum[:])
	}
	return b
}

// TestBadFiles is the corpus of malformed files with correct checksums.
func TestBadFiles(t *testing.T) {
	le := binary.LittleEndian
	file := encode(t, sample())
	f, _ := open(file, 0)
	table := PreambleSize + f.header
	entry := func(b []byte, name string) []byte {
		for i, s := range f.sections {
			if s.String() == name {
				return b[table+int64(i)*entrySize:][:entrySize]
			}
		}
		t.Fatal("no ", name)
		return nil
	}
	for _, c := range []struct {
		name string
		do   func(b []byte)
		want error
	}{
		{"nothing", func([]byte) {}, nil},
		{"major 2", func(b []byte) { le.PutUint16(b[8:], 2) }, ErrTooNew},
		{"major 0", func(b []byte) { le.PutUint16(b[8:], 0) }, ErrCorrupt},
		{"flag", func(b []byte) { b[12] = 1 }, ErrTooNew},
		{"huge file", func(b []byte) { le.PutUint64(b[16:], 1<<63) }, ErrLimit},
		{"longer file", func(b []byte) { le.PutUint64(b[16:], uint64(len(b)+1)) }, ErrCorrupt},
		{"no serving part", func(b []byte) { le.PutUint64(b[24:], 0) }, ErrCorrupt},
		{"all serving", func(b []byte) { le.PutUint64(b[24:], uint64(len(b))) }, ErrCorrupt},
		{"huge header", func(b []byte) { le.PutUint32(b[32:], 1<<31) }, ErrLimit},
		{"many sections", func(b []byte) { le.PutUint32(b[36:], 1<<31) }, ErrLimit},
		{"one section more", func(b []byte) { b[36]++ }, ErrCorrupt},
		{"no resuming sections", func(b []byte) { copy(b[40:44], b[36:40]) }, ErrCorrupt},
		{"reserved bytes", func(b []byte) { b[112] = 1 }, ErrCorrupt},
		{"state hash", func(b []byte) { b[48]++ }, ErrMismatch},
		{"resuming share", func(b []byte) { b[80]++ }, ErrMismatch},
		{"serving value", func(b []byte) { b[le.Uint64(entry(b, `array "coef"`)[48:])]++ }, ErrMismatch},
		{"resuming value", func(b []byte) { b[le.Uint64(entry(b, `array "count"`)[48:])]++ }, ErrMismatch},
		{"renamed array", func(b []byte) { entry(b, `array "count"`)[4]-- }, ErrMismatch},
		{"two of a name", func(b []byte) { copy(entry(b, `array "none"`)[4:28], "coef") }, ErrCorrupt},
		{"upper case", func(b []byte) { entry(b, `array "none"`)[4] = 'N' }, ErrCorrupt},
		{"unknown dtype", func(b []byte) { entry(b, `array "none"`)[2] = 9 }, ErrTooNew},
		{"transposed", func(b []byte) {
			e := entry(b, `array "coef"`)
			le.PutUint64(e[32:], 3)
			le.PutUint64(e[40:], 4)
		}, ErrMismatch},
		{"overflowing shape", func(b []byte) {
			e := entry(b, `array "coef"`)
			le.PutUint64(e[32:], 1<<62)
			le.PutUint64(e[40:], 1<<2)
		}, ErrCorrupt},
		{"overflowing size", func(b []byte) {
			e := entry(b, `array "none"`)
			le.PutUint64(e[32:], 1<<62)
			le.PutUint64(e[40:], 1)
		}, ErrCorrupt},
		{"negative shape", func(b []byte) { le.PutUint64(entry(b, `array "none"`)[32:], 1<<63) }, ErrCorrupt},
		{"overlap", func(b []byte) { copy(entry(b, `array "coef"`)[48:56], entry(b, `array "kernel"`)[48:56]) }, ErrCorrupt},
		{"out of the file", func(b []byte) { le.PutUint64(entry(b, `array "coef"`)[48:], 1<<63) }, ErrCorrupt},
		{"unknown critical section", func(b []byte) { le.PutUint16(entry(b, "section info"), 99) }, ErrTooNew},
		{"unknown section instead of info", func(b []byte) {
			e := entry(b, "section info")
			le.PutUint16(e, 99)
			e[3] = 0
		}, ErrCorrupt},
		{"info twice", func(b []byte) { le.PutUint16(entry(b, "section positions"), infoSection) }, ErrCorrupt},
		{"unknown flag", func(b []byte) { entry(b, "section info")[3] |= 2 }, ErrTooNew},
		{"padding", func(b []byte) { b[f.serving+1] = 1 }, ErrCorrupt},
		{"header field", func(b []byte) { b[PreambleSize]++ }, ErrCorrupt},
		{"header field order", func(b []byte) { b[PreambleSize] = 3 }, ErrCorrupt},
		{"header field length", func(b []byte) { le.PutUint16(b[PreambleSize+2:], 60000) }, ErrCorrupt},
		{"negative step", func(b []byte) { b[PreambleSize+4+5+3*12-1] |= 0x80 }, ErrCorrupt},
		{"unknown critical field", func(b []byte) { le.PutUint16(b[table-36:], criticalField|9) }, ErrTooNew},
		{"configuration with space", func(b []byte) { b[le.Uint64(entry(b, "section config")[48:])] = ' ' }, ErrCorrupt},
		{"position of a bad topic", func(b []byte) { b[le.Uint64(entry(b, "section positions")[48:])+2] = '/' }, ErrCorrupt},
		{"positions out of order", func(b []byte) { b[le.Uint64(entry(b, "section positions")[48:])+2+8+16] = 1 }, ErrCorrupt},
		{"trailer magic", func(b []byte) { b[len(b)-1]++ }, ErrCorrupt},
		{"trailer length", func(b []byte) { b[len(b)-9]++ }, ErrCorrupt},
	} {
		bad := bytes.Clone(file)
		c.do(bad)
		_, err := Decode(reseal(bad), 0)
		if !errors.Is(err, c.want) || err != nil && !typed(err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	seal := bytes.Clone(file)
	seal[f.serving-1]++
	sum := sha(seal[:len(seal)-trailerSize])
	copy(seal[len(seal)-trailerSize:], sum[:])
	if _, err := Decode(seal, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a wrong seal under a right trailer: %v", err)
	}
	padded := slices.Insert(bytes.Clone(file), int(f.serving)-SealSize, bytes.Repeat([]byte{1}, alignment)...)
	le.PutUint64(padded[16:], uint64(len(padded)))
	le.PutUint64(padded[24:], uint64(f.serving+alignment))
	le.PutUint64(padded[len(padded)-16:], uint64(len(padded)))
	for i := f.first; i < len(f.sections); i++ {
		e := padded[table+int64(i)*entrySize:]
		le.PutUint64(e[48:], uint64(f.sections[i].offset+alignment))
	}
	if _, err := Decode(reseal(padded), 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("something hidden before the seal: %v", err)
	}
	if _, err := Decode(file, int64(len(file))-1); !errors.Is(err, ErrLimit) {
		t.Errorf("a limit of one byte less: %v", err)
	}
}

func TestDecodeSkipsWhatIsNotCritical(t *testing.T) {
	// A file as a later minor version might write it: with another field and
	// another section.
	s := sample()
	s.State.Resuming = append(s.State.Resuming, learner.Array{Name: "extra", Shape: [2]int{3, 1}, Data: []byte("abc")})
	file := encode(t, s)
	f, _ := open(file, 0)
	i := int64(len(f.sections) - 2)
	e := file[PreambleSize+f.header+i*entrySize:]
	binary.LittleEndian.PutUint16(e, 77)
	e[3] = 0
	resuming := hashPart(sample().State.Resuming)
	state := stateHash(s.Schema, hashPart(s.State.Serving), resuming)
	copy(file[48:], state[:])
	copy(file[80:], resuming[:])
	file[10] = 1
	want := sample()
	want.StateHash = state
	if got, err := Decode(reseal(file), 0); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAppendRefusesWhatDecodeWould(t *testing.T) {
	for name, do := range map[string]func(*Snapshot){
		"array of int":      func(s *Snapshot) { s.State.Serving[0].Data = []int{1} },
		"wrong shape":       func(s *Snapshot) { s.State.Serving[0].Shape = [2]int{3, 3} },
		"negative shape":    func(s *Snapshot) { s.State.Serving[2].Shape = [2]int{0, -3} },
		"two of a name":     func(s *Snapshot) { s.State.Serving[0].Name = "count" },
		"long name":         func(s *Snapshot) { s.State.Serving[0].Name = "abcdefghijklmnopqrstuvwxy" },
		"no name":           func(s *Snapshot) { s.State.Serving[0].Name = "" },
		"config with space": func(s *Snapshot) { s.Config = []byte(`{"a": 1}`) },
		"schema cut":        func(s *Snapshot) { s.Schema = s.Schema[:5] },
		"positions order":   func(s *Snapshot) { s.Positions[0].Partition = 1 },
		"negative next":     func(s *Snapshot) { s.Positions[0].Next = -1 },
		"negative step":     func(s *Snapshot) { s.Step = -1 },
	} {
		s := sample()
		do(s)
		if b, err := Append([]byte("x"), s); err == nil || string(b) != "x" {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

func TestOnlyCompactJSONIsTaken(t *testing.T) {
	for text, want := range map[string]bool{
		``: true, `0`: true, `{"a b":"c \\\" d","e":[1,2]}`: true, `"\\\\"`: true, `"ü 漢"`: true,
		` 0`: false, `0 `: false, "[1,\n2]": false, `{"a":"\\\\" }`: false, `{`: false, `0 1`: false, `{"a":}`: false,
	} {
		if err := checkJSON("text", []byte(text), 100); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := checkJSON("text", []byte(`"12"`), 3); err == nil {
		t.Error("too long a text is taken")
	}
}

// TestDecodeAllocatesNoMoreThanTheFile allows Decode at most twice the size of a
// file, whatever sizes the file contains.
func TestDecodeAllocatesNoMoreThanTheFile(t *testing.T) {
	big := sample()
	big.State.Resuming = append(big.State.Resuming, learner.Array{Name: "big", Shape: [2]int{1000, 300}, Data: make([]float64, 300000)})
	many := sample()
	many.Positions = nil
	for i := range 50000 {
		many.Positions = append(many.Positions, Position{Topic: "t", Partition: int32(i)})
	}
	small := encode(t, sample())
	files := [][]byte{small, encode(t, big), encode(t, many)}
	for i := range small { // make sizes and counts huge, one byte at a time
		bad := bytes.Clone(small)
		bad[i] = 0x7f
		files = append(files, reseal(bad))
	}
	for i, file := range files {
		Decode(file, 0) // once before the measurement, for one-time allocations
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Decode(file, 0)
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		if limit := uint64(2*len(file) + 256<<10); got > limit {
			t.Errorf("file %d of %d bytes: %d bytes allocated", i, len(file), got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	file := encode(f, sample())
	f.Add(file)
	f.Add(encode(f, new(Snapshot)))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = reseal(b)
		DecodeServing(b, 1<<20)
		Describe(b, 1<<20)
		s, err := Decode(b, 1<<20)
		if err != nil {
			if !typed(err) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		again, err := Append(nil, s)
		if err != nil {
			t.Fatalf("Append refuses what Decode accepts: %v", err)
		}
		if b[10] == 0 && b[11] == 0 && !bytes.Equal(again, b) {
			if s2, err := Decode(again, 1<<20); err != nil || s2.StateHash != s.StateHash {
				t.Fatalf("not stable: %v", err)
			}
		}
	})
}

// Of several missing sections the same one is named each time.
func TestTheFirstMissingSectionIsNamed(t *testing.T) {
	f, err := open(encode(t, sample()), 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := f.read(nil); err == nil || !strings.Contains(err.Error(), sectionName(configSection)) {
			t.Fatal(err)
		}
	}
}
