package decode

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/ngram"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// BenchmarkColumns decodes records of 50 columns: 20 numbers, 4 booleans, 22 categories and
// 4 times.
func BenchmarkColumns(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	record := func() []byte {
		var s strings.Builder
		s.WriteByte('{')
		for j := range 50 {
			fmt.Fprintf(&s, `"column_%02d":`, j)
			switch {
			case j < 6 && rng.IntN(20) == 0:
				s.WriteString("null,")
			case j < 20:
				fmt.Fprintf(&s, "%.5g,", rng.ExpFloat64())
			case j < 24:
				fmt.Fprintf(&s, "%v,", rng.IntN(2) == 0)
			case j < 46:
				fmt.Fprintf(&s, `"value %d",`, rng.IntN(5000))
			default:
				fmt.Fprintf(&s, `"2024-%02d-%02dT%02d:%02d:00Z",`, 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60))
			}
		}
		s.WriteString(`"label":"ok"}`)
		return []byte(s.String())
	}
	records := make([][]byte, 500)
	for i := range records {
		records[i] = record()
	}
	d, err := New(Config{Label: "label", Infer: true, Missing: "impute", Depth: MaxDepth}, Schema{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(records[0])))
	b.ReportAllocs()
	for i := range b.N {
		if _, err := d.Decode(records[i%len(records)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNgrams hashes texts of 20 words, and of 400 different ones.
func BenchmarkNgrams(b *testing.B) {
	long := ""
	for i := range 400 {
		long += fmt.Sprint("word", i*i, " ")
	}
	for name, text := range map[string]string{"20": strings.Repeat("late Again, the train was ", 4), "400": long} {
		x, keys := make([]float64, schema.TextBuckets), ngram.Keys{}
		b.Run("shares/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				ngram.Hash(x, []byte(text))
			}
		})
		b.Run("keys/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				keys.Set([]byte(text), learner.TextKeys)
			}
		})
	}
}
