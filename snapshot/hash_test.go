package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"runtime"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// naiveStateHash implements the definition in FORMAT.md literally: whole arrays
// as bytes, one after the other, and the levels of the tree from the bottom up.
func naiveStateHash(schema []byte, s learner.State) Hash {
	sum := func(tag byte, parts ...[]byte) []byte {
		h := sha256.Sum256(append([]byte{tag}, bytes.Join(parts, nil)...))
		return h[:]
	}
	number := func(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	part := func(arrays []learner.Array) []byte {
		all := number(len(arrays))
		for _, a := range arrays {
			var values []byte
			size, kind := 8, byte(0)
			switch v := a.Data.(type) {
			case []byte:
				values, size, kind = v, 1, 1
			case []float32:
				for _, x := range v {
					values = binary.LittleEndian.AppendUint32(values, math.Float32bits(x))
				}
				size, kind = 4, 2
			case []float64:
				for _, x := range v {
					values = binary.LittleEndian.AppendUint64(values, math.Float64bits(x))
				}
				kind = 3
			case []int64:
				for _, x := range v {
					values = binary.LittleEndian.AppendUint64(values, uint64(x))
				}
				kind = 4
			}
			var level [][]byte
			for first := true; first || len(values) > 0; first = false {
				n := min(len(values), 65536*size)
				level = append(level, sum(0, values[:n]))
				values = values[n:]
			}
			for len(level) > 1 { // pairs; a single remaining hash moves up unchanged
				var up [][]byte
				for ; len(level) > 1; level = level[2:] {
					up = append(up, sum(1, level[0], level[1]))
				}
				level = append(up, level...)
			}
			name := append([]byte{kind, byte(len(a.Name))}, a.Name...)
			all = append(all, sum(2, name, number(a.Shape[0]), number(a.Shape[1]), level[0])...)
		}
		return sum(3, all)
	}
	return Hash(sum(5, []byte("accrete state 1"), sum(4, schema), part(s.Serving), part(s.Resuming)))
}

func stateOf(values ...int) learner.State {
	var s learner.State
	for i, n := range values {
		f32, f64, i64, b := make([]float32, n), make([]float64, n), make([]int64, n), make([]byte, n)
		for j := range n {
			f32[j], f64[j], i64[j], b[j] = float32(j), math.Sqrt(float64(j)), int64(j)-5, byte(j)
		}
		c := string(rune('a' + i))
		s.Serving = append(s.Serving, learner.Array{Name: c + ".f32", Shape: [2]int{n, 1}, Data: f32}, learner.Array{Name: c + ".b", Shape: [2]int{1, n}, Data: b})
		s.Resuming = append(s.Resuming, learner.Array{Name: c + ".f64", Shape: [2]int{n, 1}, Data: f64}, learner.Array{Name: c + ".i64", Shape: [2]int{1, n}, Data: i64})
	}
	return s
}

func TestStateHashIsTheNaiveOneOnAnyCores(t *testing.T) {
	const n = leafValues
	states := []learner.State{{}, sample().State, stateOf(0, 1, 2), stateOf(n-1, n, n+1), stateOf(3*n - 1), stateOf(5*n + 1)}
	for i, s := range states {
		want := naiveStateHash([]byte(`{}`), s)
		for _, cores := range []int{1, 2, 8} {
			old := runtime.GOMAXPROCS(cores)
			got := StateHash([]byte(`{}`), s)
			runtime.GOMAXPROCS(old)
			if got != want {
				t.Errorf("state %d on %d cores: %v, want %v", i, cores, got, want)
			}
		}
	}
}

func TestStateHashSeesEveryChange(t *testing.T) {
	base := func() (string, learner.State) { return `{"a":1}`, sample().State }
	schema, s := base()
	seen := map[Hash]string{StateHash([]byte(schema), s): "nothing"}
	for name, do := range map[string]func(schema *string, s *learner.State){
		"schema":       func(schema *string, _ *learner.State) { *schema = `{"a":2}` },
		"name":         func(_ *string, s *learner.State) { s.Serving[0].Name = "kernes" },
		"shape":        func(_ *string, s *learner.State) { s.Serving[1].Shape = [2]int{3, 4} },
		"empty shape":  func(_ *string, s *learner.State) { s.Serving[2].Shape = [2]int{3, 0} },
		"type":         func(_ *string, s *learner.State) { s.Serving[2].Data = []int64{} },
		"value":        func(_ *string, s *learner.State) { s.Serving[1].Data.([]float32)[11] = 0 },
		"sign of zero": func(_ *string, s *learner.State) { s.Serving[1].Data.([]float32)[3] = 0 },
		"order":        func(_ *string, s *learner.State) { s.Serving[0], s.Serving[1] = s.Serving[1], s.Serving[0] },
		"moved": func(_ *string, s *learner.State) {
			s.Resuming = append(s.Serving[2:], s.Resuming...)
			s.Serving = s.Serving[:2]
		},
		"one less": func(_ *string, s *learner.State) { s.Resuming = s.Resuming[:1] },
		"same bytes": func(_ *string, s *learner.State) {
			s.Resuming[0].Data = []float64{math.NaN(), math.Copysign(0, -1), math.NaN()}
		},
		"resuming part": func(_ *string, s *learner.State) { s.Resuming[0].Data.([]int64)[0]++ },
	} {
		schema, s := base()
		do(&schema, &s)
		h := StateHash([]byte(schema), s)
		if other, ok := seen[h]; ok {
			t.Errorf("%s: same hash as %s", name, other)
		}
		seen[h] = name
	}
}

func TestStateHashIsOfTheModelAlone(t *testing.T) {
	s := sample()
	want := StateHash(s.Schema, s.State)
	s.Model, s.Epoch, s.Seq, s.Step = "other", 9, 9, 9
	s.Chain, s.Lineage, s.Rows, s.ConfigHash, s.Config = Hash{}, Hash{}, Hash{}, Hash{}, nil
	s.Positions, s.LearnedTo, s.Info = nil, nil, Info{}
	got, err := Decode(encode(t, s), 0)
	if err != nil || got.StateHash != want {
		t.Errorf("state hash %v, %v, want %v", got.StateHash, err, want)
	}
}

func BenchmarkStateHash(b *testing.B) {
	s := stateOf(20 * leafValues)
	b.SetBytes(20 * leafValues * (4 + 1 + 8 + 8))
	for b.Loop() {
		StateHash(nil, s)
	}
}

func BenchmarkAppend(b *testing.B) {
	s := sample()
	s.State = stateOf(8 * leafValues)
	var buf []byte
	for b.Loop() {
		buf, _ = Append(buf[:0], s)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecode(b *testing.B) {
	s := sample()
	s.State = stateOf(8 * leafValues)
	file := encode(b, s)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := Decode(file, 0); err != nil {
			b.Fatal(err)
		}
	}
}
