package protobuf_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
	"github.com/accrete-ml/accrete/ingest/decode/protobuf"
	"github.com/accrete-ml/accrete/ingest/registry"
)

const everything = `syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Skipped { int32 a = 1; }
message All {
  enum Color { RED = 0; GREEN = 5; }
  message In { double v = 1; optional sint64 w = 2; In next = 3; string s = 4; }
  double d = 1; float f = 2; int32 i32 = 3; int64 i64 = 4; uint32 u32 = 5; uint64 u64 = 6;
  sint32 s32 = 7; sint64 s64 = 8; fixed32 f32 = 9; fixed64 f64 = 10; sfixed32 g32 = 11; sfixed64 g64 = 12;
  bool b = 13; string s = 14; bytes raw = 15; Color color = 16; optional double none = 17;
  google.protobuf.Timestamp at = 18; google.protobuf.DoubleValue boxed = 19;
  In in = 20; repeated double many = 21; repeated int32 loose = 22 [packed = false]; map<string, double> by = 23;
  oneof one { int32 x1 = 24; string x2 = 25; }
  string y = 200;
}`

var names = leaf.Names{
	Label: func(name string) (int, bool) { return -1, name == "y" },
	Depth: 8, Most: 1000, Whole: func(string) bool { return false },
}

func compiled(t testing.TB) (*protobuf.Plan, func(json string) []byte) {
	set, err := registry.Proto(t.Context(), everything, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := protobuf.Compile(set, "", []int{1}, names)
	if err != nil {
		t.Fatal(err)
	}
	d, err := protobuf.Descriptor(set, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	return p, func(json string) []byte {
		m := dynamicpb.NewMessage(d)
		if err := protojson.Unmarshal([]byte(json), m); err != nil {
			t.Fatal(err)
		}
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func show(leaves []leaf.Leaf) map[string]string {
	all := map[string]string{}
	for _, l := range leaves {
		v := "null"
		switch l.Kind {
		case leaf.Number, leaf.Time:
			v = fmt.Sprint(l.Num)
		case leaf.Null:
		case leaf.Object, leaf.List:
			v = "whole"
		default:
			v = string(l.Text)
		}
		all[string(l.Name)] = v
	}
	return all
}

// TestLeavesAreWhatALibraryHasWritten holds the leaves of messages against their JSON.
func TestLeavesAreWhatALibraryHasWritten(t *testing.T) {
	p, encode := compiled(t)
	b := encode(`{"d":1.5,"f":0.25,"i32":-3,"i64":"-9007199254740993","u32":7,"u64":"8","s32":-9,"s64":"-10","f32":11,"f64":"12","g32":-13,"g64":"-14",
		"b":true,"s":"text","raw":"Ynl0ZXM=","color":"GREEN","at":"1969-12-31T23:59:58.500Z","boxed":2.5,
		"in":{"v":3,"w":"-4","next":{"v":1}},"many":[1,2.5],"loose":[3,4],"by":{"k":5},"x2":"one","y":"ok"}`)
	want := map[string]string{
		"d": "1.5", "f": "0.25", "i32": "-3", "i64": "-9.007199254740992e+15", "u32": "7", "u64": "8", "s32": "-9", "s64": "-10", "f32": "11", "f64": "12",
		"g32": "-13", "g64": "-14", "b": "true", "s": "text", "raw": "bytes", "color": "GREEN", "none": "null", "at": "-1.5", "boxed": "2.5",
		"in.v": "3", "in.w": "-4", "in.next": "whole", "in.s": "null", "many.0": "1", "many.1": "2.5", "loose.0": "3", "loose.1": "4", "by.k": "5",
		"x1": "null", "x2": "one", "y": "ok",
	}
	empty := map[string]string{
		"d": "0", "f": "0", "i32": "0", "i64": "0", "u32": "0", "u64": "0", "s32": "0", "s64": "0", "f32": "0", "f64": "0", "g32": "0", "g64": "0",
		"b": "false", "s": "null", "raw": "null", "color": "RED", "none": "null", "at": "null", "boxed": "null", "in.v": "null", "in.w": "null",
		"in.next": "null", "in.s": "null", "x1": "null", "x2": "null", "y": "null",
	}
	for range 2 { // nothing is left of the record before
		for _, c := range []struct {
			b    []byte
			want map[string]string
		}{{b, want}, {nil, empty}, {encode(`{"in":{},"y":""}`), nil}} {
			leaves, err := p.Read(c.b)
			if err != nil {
				t.Fatal(err)
			}
			got := show(leaves)
			if c.want == nil {
				if got["in.v"] != "0" || got["in.w"] != "null" {
					t.Errorf("an empty message has %v", got)
				}
				continue
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		}
	}
	// The last of two values counts, and messages are merged.
	leaves, err := p.Read(append(encode(`{"d":1,"in":{"v":1,"w":"2"}}`), encode(`{"d":5,"in":{"v":7}}`)...))
	if got := show(leaves); err != nil || got["d"] != "5" || got["in.v"] != "7" || got["in.w"] != "2" {
		t.Errorf("%v, %v", got, err)
	}
	for i := range b {
		p.Read(b[:i])
	}
	if _, err := p.Read([]byte{0x09, 1}); err == nil {
		t.Error("a value that is cut off is read")
	}
	if _, err := p.Read([]byte{0x08, 1}); err == nil {
		t.Error("a double as a varint is read")
	}
}

func FuzzRead(f *testing.F) {
	p, encode := compiled(f)
	f.Add(encode(`{"d":1.5,"in":{"v":3,"w":"-4"},"many":[1,2.5],"loose":[3,4],"by":{"k":5},"x2":"one","y":"ok","at":"2024-01-01T00:00:00Z"}`))
	rng := rand.New(rand.NewPCG(1, 0))
	for range 3 {
		f.Add(encode(fmt.Sprintf(`{"d":%v,"i64":"%d","boxed":1}`, rng.NormFloat64(), rng.Int64())))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if leaves, err := p.Read(b); err == nil && (len(leaves) < 26 || len(leaves) > 2000) {
			t.Errorf("%d leaves", len(leaves))
		}
	})
}
