package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The seed of a model is a format: these values may never change.
func TestNormalsAreGolden(t *testing.T) {
	eachISA(func(name string) {
		n := NewNormals(Key("golden", 1, 2))
		got := make([]float32, 12)
		n.Fill(got)
		want := []float32{
			0x1.95f5a2p-01, -0x1.45cc56p+00, 0x1.36c182p-01, 0x1.a425f4p+00, 0x1.9b0d6cp+00, 0x1.b64806p-01,
			-0x1.1c1fe6p-02, 0x1.2edbb4p-02, -0x1.ab80e2p+00, 0x1.5a6e52p+00, 0x1.2ddfbp-01, 0x1.94b95p+00,
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: normals are\n%x\nwant\n%x", name, got, want)
		}
		long := make([]float32, 1<<20)
		n.Reset(Key("golden", 3, 4))
		n.Fill(long)
		if got, want := digest32(long), uint64(0x8aeaea8e57c34e4a); got != want {
			t.Errorf("%s: a million normals have the digest %#x, want %#x", name, got, want)
		}
	})
}

// digest32 is FNV-1a over the bits, little endian.
func digest32(v []float32) uint64 {
	h := uint64(14695981039346656037)
	for _, x := range v {
		b := math.Float32bits(x)
		for range 4 {
			h = (h ^ uint64(b&0xff)) * 1099511628211
			b >>= 8
		}
	}
	return h
}

func digest64(v []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, x := range v {
		b := math.Float64bits(x)
		for range 8 {
			h = (h ^ b&0xff) * 1099511628211
			b >>= 8
		}
	}
	return h
}

func TestNormalsDoNotDependOnHowTheyAreTaken(t *testing.T) {
	eachISA(func(name string) {
		whole := make([]float32, 5000)
		NewNormals(Key("pieces", 0, 0)).Fill(whole)
		n := NewNormals(Key("pieces", 0, 0))
		r := rand.New(rand.NewPCG(1, 2))
		for at := 0; at < len(whole); {
			size := r.IntN(30)
			if size == 0 {
				size = r.IntN(900)
			}
			piece := make([]float32, min(size, len(whole)-at))
			n.Fill(piece)
			if !slices.Equal(piece, whole[at:at+len(piece)]) {
				t.Fatalf("%s: numbers %d to %d differ when taken in pieces", name, at, at+len(piece))
			}
			at += len(piece)
		}
	})
}

// Each pair of words, through the standard library in float64.
func TestNormalsAreBoxAndMuller(t *testing.T) {
	key := Key("reference", 5, 6)
	n := NewNormals(key)
	words := rand.NewChaCha8(key)
	z := make([]float32, 8)
	var sum, sum2, sum4, most float64
	const eights = 1 << 16
	for range eights {
		n.Fill(z)
		var w [8]uint32
		for i := range 4 {
			u := words.Uint64()
			w[2*i], w[2*i+1] = uint32(u), uint32(u>>32)
		}
		for i := range 4 {
			r := math.Sqrt(-2 * math.Log(float64(w[i]|1)/(1<<32)))
			s, c := math.Sincos(2 * math.Pi * float64(int32(w[i+4])) / (1 << 32))
			for _, d := range []float64{r*c - float64(z[i]), r*s - float64(z[i+4])} {
				most = max(most, math.Abs(d))
			}
		}
		for _, v := range z {
			x := float64(v)
			sum, sum2, sum4 = sum+x, sum2+x*x, sum4+x*x*x*x
		}
	}
	if most > 4e-4 { // where u is next to 2^32, its rounding to float32 shows
		t.Errorf("off from float64 by up to %.1e", most)
	}
	const count = 8 * eights
	if m, v, k := sum/count, sum2/count, sum4/count; math.Abs(m) > .006 || math.Abs(v-1) > .008 || math.Abs(k-3) > .06 {
		t.Errorf("mean %v, second moment %v, fourth %v: want 0, 1, 3", m, v, k)
	}
}

func BenchmarkNormals(b *testing.B) {
	v := make([]float32, 100*refill)
	eachISA(func(name string) {
		b.Run("isa="+name, func(b *testing.B) {
			n := NewNormals(Key("benchmark", 0, 0))
			for b.Loop() {
				n.Fill(v)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(len(v)), "ns/normal")
		})
	})
}
