package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// batchAt returns a batch as a broker would store it at base.
func batchAt(t testing.TB, base int64, codec Codec, rs ...Record) []byte {
	t.Helper()
	b, err := appendBatch(nil, rs, codec, 0, -1, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint64(b, uint64(base))
	return b
}

// reseal updates the length and the checksum of b, which was modified.
func reseal(b []byte) []byte {
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[checksummed:], castagnoli))
	return b
}

func parse(from int64, set []byte) (*scan, error) {
	s := newScan(from, nil)
	return s, s.set(set)
}

// Encoded records are decoded unchanged, in batches of any codec and from any
// offset on. kmsg, which shares no code with this package, decodes the same
// records.
func TestBatchesRoundTrip(t *testing.T) {
	blob := rapid.OneOf(rapid.Just[[]byte](nil), rapid.Just([]byte{}), rapid.SliceOfN(rapid.Byte(), 0, 200))
	header := rapid.Custom(func(t *rapid.T) Header { return Header{rapid.String().Draw(t, "key"), blob.Draw(t, "value")} })
	record := rapid.Custom(func(t *rapid.T) Record {
		r := Record{Time: rapid.Int64Range(0, 1<<45).Draw(t, "time"), Key: blob.Draw(t, "key"), Value: blob.Draw(t, "value")}
		if hs := rapid.SliceOfN(header, 0, 4).Draw(t, "headers"); len(hs) > 0 {
			r.Headers = hs
		}
		return r
	})
	rapid.Check(t, func(rt *rapid.T) {
		var set []byte
		var all []Record
		next := int64(rapid.IntRange(0, 1000).Draw(rt, "base"))
		for range rapid.IntRange(1, 4).Draw(rt, "batches") {
			rs := rapid.SliceOfN(record, 1, 5).Draw(rt, "records")
			codec := Codec(rapid.IntRange(0, 4).Draw(rt, "codec"))
			b := batchAt(t, next, codec, rs...)
			var other kmsg.RecordBatch
			if err := other.ReadFrom(b); err != nil || other.NumRecords != int32(len(rs)) {
				rt.Fatalf("kmsg reads %+v, %v", other, err)
			}
			if codec == None {
				for i, p := 0, other.Records; i < len(rs); i++ {
					size, n := binary.Varint(p)
					var r kmsg.Record
					if err := r.ReadFrom(p[:n+int(size)]); err != nil || string(r.Value) != string(rs[i].Value) || (r.Key == nil) != (rs[i].Key == nil) {
						rt.Fatalf("kmsg reads %+v, %v, want %+v", r, err, rs[i])
					}
					p = p[n+int(size):]
				}
			}
			set = append(set, b...)
			for i := range rs {
				rs[i].Offset = next + int64(i)
			}
			all = append(all, rs...)
			next += int64(len(rs))
		}
		from := all[rapid.IntRange(0, len(all)-1).Draw(rt, "from")].Offset
		s, err := parse(from, set)
		if err != nil || s.next != next || len(s.missing) != 0 {
			rt.Fatalf("from %d: next %d, missing %v, %v; want next %d", from, s.next, s.missing, err, next)
		}
		want := all[from-all[0].Offset:]
		if !reflect.DeepEqual(s.records, want) {
			rt.Fatalf("parsed %+v\nwant %+v", s.records, want)
		}
	})
}

// A flipped bit is an error, unless it is in the part that the checksum does not
// cover, where it changes no record.
func TestFlippedBits(t *testing.T) {
	for _, codec := range []Codec{None, Gzip, Snappy, LZ4, Zstd} {
		clean := batchAt(t, 100, codec, values("alpha", "beta", "gamma")...)
		for bit := range 8 * len(clean) {
			b := bytes.Clone(clean)
			b[bit/8] ^= 1 << (bit % 8)
			s, err := parse(100, b)
			if bit/8 >= checksummed && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, bit %d: %v", codec, bit, err)
			}
			for _, r := range s.records {
				if i := bytes.IndexByte([]byte("abg"), r.Value[0]); err == nil && bit/8 >= 8 && (r.Offset != 100+int64(i) || r.Time != 1000+int64(i)) {
					t.Errorf("%v, bit %d gives %+v", codec, bit, r)
				}
			}
		}
	}
}

// Damage with a valid checksum is an error too, and allocates little memory.
func TestDamagedBatches(t *testing.T) {
	be := binary.BigEndian
	edit := func(f func(b []byte) []byte) []byte {
		return reseal(f(batchAt(t, 5, None, values("alpha", "beta", "gamma")...)))
	}
	for name, b := range map[string][]byte{
		"old format":        edit(func(b []byte) []byte { b[16] = 1; return b }),
		"too many records":  edit(func(b []byte) []byte { be.PutUint32(b[57:], 4); be.PutUint32(b[23:], 3); return b }),
		"too few records":   edit(func(b []byte) []byte { be.PutUint32(b[57:], 2); return b }),
		"2³¹-1 records":     edit(func(b []byte) []byte { be.PutUint32(b[57:], 1<<31-1); be.PutUint32(b[23:], 1<<31-2); return b }),
		"-1 records":        edit(func(b []byte) []byte { be.PutUint32(b[57:], 1<<32-1); return b }),
		"negative delta":    edit(func(b []byte) []byte { be.PutUint32(b[23:], 1<<32-1); return b }),
		"negative offset":   edit(func(b []byte) []byte { be.PutUint64(b, 1<<63); return b }),
		"unknown codec":     edit(func(b []byte) []byte { b[22] |= 7; return b }),
		"not gzip":          edit(func(b []byte) []byte { b[22] |= 1; return b }),
		"not snappy":        edit(func(b []byte) []byte { b[22] |= 2; return b }),
		"not lz4":           edit(func(b []byte) []byte { b[22] |= 3; return b }),
		"not zstd":          edit(func(b []byte) []byte { b[22] |= 4; return b }),
		"cut":               edit(func(b []byte) []byte { return b[:len(b)-1] }),
		"more":              edit(func(b []byte) []byte { return append(b, 0) }),
		"record too long":   edit(func(b []byte) []byte { b[batchHeader] = 100; return b }),
		"offset goes back":  edit(func(b []byte) []byte { b[batchHeader+12+3] = 0; return b }),
		"key past the end":  edit(func(b []byte) []byte { b[batchHeader+4] = 60; return b }),
		"key of -2":         edit(func(b []byte) []byte { b[batchHeader+4] = 3; return b }),
		"9 headers, absent": edit(func(b []byte) []byte { b[batchHeader+11] = 18; return b }),
		"short header":      {0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 0},
	} {
		var s *scan
		var err error
		if n := allocated(func() { s, err = parse(5, b) }); n > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, n)
		}
		if !errors.Is(err, ErrCorrupt) || len(s.records) > 0 || s.next != 5 {
			t.Errorf("%s: %v, next %d", name, err, s.next)
		}
		// Records before the damaged batch are returned first, and then the error.
		set := append(batchAt(t, 4, None, values("before")...), b...)
		if s, err := parse(4, set); err != nil || len(s.records) != 1 || s.next != 5 {
			t.Errorf("%s behind a good one: %v, next %d", name, err, s.next)
		}
	}
}

func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// A decompression bomb is rejected before it is in memory.
func TestBombs(t *testing.T) {
	const limit = 1 << 20
	zeros := make([]byte, 16*limit)
	framed := append(bytes.Clone(xerial), 0, 0, 0, 1, 0, 0, 0, 1)
	block := snappy.Encode(nil, zeros[:limit/4])
	for range 64 {
		framed = append(binary.BigEndian.AppendUint32(framed, uint32(len(block))), block...)
	}
	bombs := map[string]struct {
		codec Codec
		bytes []byte
	}{"xerial": {Snappy, framed}}
	for codec := Gzip; codec <= Zstd; codec++ {
		z, err := compress(codec, zeros)
		if err != nil {
			t.Fatal(err)
		}
		bombs[codec.String()] = struct {
			codec Codec
			bytes []byte
		}{codec, z}
	}
	for name, bomb := range bombs {
		decompress(bomb.codec, bomb.bytes, limit) // fills the pools
		var err error
		n := allocated(func() { _, err = decompress(bomb.codec, bomb.bytes, limit) })
		if err != errBomb || n > 4*limit+12<<20 { // lz4 has blocks of 4 MiB
			t.Errorf("%s, %d bytes: %v, %d KiB allocated", name, len(bomb.bytes), err, n>>10)
		}
	}

	// As received from a broker: 28 KB that decompress to 256 MiB.
	var z bytes.Buffer
	w, _ := zstd.NewWriter(&z)
	for range 16 {
		w.Write(zeros)
	}
	w.Close()
	b := batchAt(t, 0, None, values("x")...)
	b = append(b[:batchHeader], z.Bytes()...)
	b[22] = byte(Zstd)
	reseal(b)
	var s *scan
	var err error
	n := allocated(func() { s, err = parse(0, b) })
	if len(b) > 30_000 || err != nil || n > 4*recordsLimit {
		t.Errorf("%d bytes: %v, %d MiB allocated", len(b), err, n>>20)
	} else if len(s.records) != 1 || s.next != 1 || !errors.Is(s.records[0].Unread, ErrTooLarge) || s.records[0].Value != nil {
		t.Errorf("%+v", s.records)
	}
	if _, err := decompress(Snappy, binary.AppendUvarint(nil, 60<<20), recordsLimit); err == nil {
		t.Error("a snappy block of 4 bytes may claim 60 MiB")
	}
}

// Exactly the limit is decompressed. One byte more is an error.
func TestLimitIsExact(t *testing.T) {
	src := bytes.Repeat([]byte("accrete "), 1000)
	for codec := range Codec(5) {
		z, err := compress(codec, src)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := decompress(codec, z, len(src)); err != nil || !bytes.Equal(out, src) {
			t.Errorf("%v at the limit: %v", codec, err)
		}
		if _, err := decompress(codec, z, len(src)-1); codec != None && err != errBomb {
			t.Errorf("%v one below: %v", codec, err)
		}
	}
	framed := append(bytes.Clone(xerial), 0, 0, 0, 1, 0, 0, 0, 1)
	for _, part := range [][]byte{src[:3000], src[3000:]} {
		block := snappy.Encode(nil, part)
		framed = append(binary.BigEndian.AppendUint32(framed, uint32(len(block))), block...)
	}
	if out, err := decompress(Snappy, framed, len(src)); err != nil || !bytes.Equal(out, src) {
		t.Errorf("xerial's framing: %v", err)
	}
	if _, err := decompress(Snappy, framed, len(src)-1); err != errBomb {
		t.Errorf("xerial's framing, one below: %v", err)
	}
}

// Compaction leaves batches without records and missing offsets. They are skipped
// and reported.
func TestMissingOffsets(t *testing.T) {
	empty := batchAt(t, 3, None, values("a", "b")...)
	binary.BigEndian.PutUint32(empty[57:], 0)
	empty = reseal(empty[:batchHeader])
	var set []byte
	set = append(set, batchAt(t, 0, None, values("zero")...)...)
	set = append(set, empty...)                               // 3, 4
	set = append(set, batchAt(t, 9, None, values("x")...)...) // 1, 2 and 5 to 8 are missing
	sparse := batchAt(t, 10, None, values("a", "b", "c")...)
	binary.BigEndian.PutUint32(sparse[23:], 5) // 13 to 15 are missing
	set = append(set, reseal(sparse)...)
	s, err := parse(0, set)
	if err != nil || s.next != 16 || fmt.Sprint(s.missing) != "[{1 9} {13 16}]" || fmt.Sprint(show(s.records)) != "[0:zero 9:x 10:a 11:b 12:c]" {
		t.Errorf("%v, next %d, missing %v, %v", show(s.records), s.next, s.missing, err)
	}
	if s, err := parse(3, empty); err != nil || s.next != 5 || len(s.records) != 0 {
		t.Errorf("an empty batch alone: next %d, %v", s.next, err)
	}
	if s, err := parse(4, set); err != nil || s.next != 16 || s.records[0].Offset != 9 {
		t.Errorf("from inside an empty batch: next %d, %v", s.next, err)
	}
}

// A batch with more records than the limit of a Poll is read by several.
func TestManyRecords(t *testing.T) {
	rs := make([]Record, enoughCells+100)
	for i := range rs {
		rs[i].Value = []byte{byte(i)}
	}
	b := batchAt(t, 7, Gzip, rs...)
	s, err := parse(7, b)
	if err != nil || len(s.records) != enoughCells || s.next != 7+enoughCells || len(s.missing) != 0 {
		t.Fatalf("%d records, next %d, %v", len(s.records), s.next, err)
	}
	s, err = parse(s.next, b)
	if err != nil || len(s.records) != 100 || s.next != 7+enoughCells+100 || s.records[0].Value[0] != byte(enoughCells&255) {
		t.Fatalf("%d records, next %d, %v", len(s.records), s.next, err)
	}
}

// A record with too many headers is returned with MaxHeaders+1 of them.
func TestManyHeaders(t *testing.T) {
	r := Record{Value: []byte("v")}
	for i := range 100_000 {
		r.Headers = append(r.Headers, Header{fmt.Sprint(i % 100), nil})
	}
	s, err := parse(0, batchAt(t, 0, Zstd, r))
	if err != nil || len(s.records) != 1 || len(s.records[0].Headers) != MaxHeaders+1 || s.records[0].Headers[64].Key != "64" {
		t.Errorf("%v, %v", len(s.records), err)
	}
}

// With LogAppendTime, all records of a batch have the timestamp of the broker.
func TestLogAppendTime(t *testing.T) {
	b := batchAt(t, 0, None, values("a", "b")...)
	b[22] |= logAppendTime
	binary.BigEndian.PutUint64(b[35:], 777)
	if s, err := parse(0, reseal(b)); err != nil || s.records[0].Time != 777 || s.records[1].Time != 777 {
		t.Errorf("%+v, %v", s.records, err)
	}
}

func FuzzBatch(f *testing.F) {
	for codec := range Codec(5) {
		f.Add(batchAt(f, 3, codec, values("a", "b", strings.Repeat("c", 100))...), true)
	}
	f.Add(batchAt(f, 3, None, Record{Headers: []Header{{"a", nil}}}), true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		b = bytes.Clone(b)
		if seal && len(b) >= batchHeader { // so that the fuzzer gets past the checksum
			reseal(b)
		}
		var s *scan
		n := allocated(func() { s, _ = parse(3, b) })
		if n > 4*recordsLimit {
			t.Fatalf("%d bytes: %d MiB allocated", len(b), n>>20)
		}
		at := int64(3)
		for _, r := range s.records {
			if r.Offset < at || len(r.Headers) > MaxHeaders+1 {
				t.Fatalf("record %d after %d, %d headers", r.Offset, at-1, len(r.Headers))
			}
			at = r.Offset + 1
		}
		missing := int64(0)
		for _, h := range s.missing {
			missing += h.To - h.From
		}
		if s.next < at || missing < 0 || missing > s.next-3 {
			t.Fatalf("next %d, missing %v", s.next, s.missing)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	rs := make([]Record, 5000)
	for i := range rs {
		rs[i] = Record{Time: int64(i), Key: []byte("key"), Value: []byte(strings.Repeat("v", 180))}
	}
	for _, codec := range []Codec{None, Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			set := batchAt(b, 0, codec, rs...)
			b.ReportAllocs()
			for b.Loop() {
				if s, err := parse(0, set); err != nil || len(s.records) != len(rs) {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rs)), "ns/record")
		})
	}
}
