package timeline

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// observe adds n observations, a random number of examples apart.
func observe(t *Timeline, from int64, n int, r *rand.Rand) (examples int64) {
	for range n {
		from += 1 + r.Int64N(900)
		e, _ := NewErrors(r.Float64(), 1/3., r.ExpFloat64(), math.Inf(r.IntN(2)-1))
		t.Add(from, e)
		if r.IntN(50) == 0 {
			t.Drift(from)
		}
	}
	return from
}

func TestTimelineIsBoundedAndKeepsTheMean(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var line Timeline
	sum, n, at := 0.0, int64(0), int64(0)
	for range 30_000 {
		at += 1 + r.Int64N(900)
		e, _ := NewErrors(r.Float64(), 0, 0, 0)
		line.Add(at, e)
		sum, n = sum+float64(e.Model), n+1
		if len(line.Points) > MostPoints {
			t.Fatalf("%d points", len(line.Points))
		}
	}
	if len(line.Points) < MostPoints/2-1 {
		t.Errorf("%d points are left, want at least %d", len(line.Points), MostPoints/2-1)
	}
	weighted, observations := 0.0, int64(0)
	for i, p := range line.Points {
		weighted += float64(p.Observations) * float64(p.Model)
		observations += p.Observations
		if i > 0 && line.stretch(line.Points[i-1]) >= line.stretch(p) {
			t.Fatalf("points %d and %d share a stretch", i-1, i)
		}
	}
	if observations != n || math.Abs(weighted-sum) > 1e-3*sum {
		t.Errorf("%d observations with the sum %v, want %d and %v", observations, weighted, n, sum)
	}
	if last := line.Points[len(line.Points)-1].Examples; last != at {
		t.Errorf("ends at %d, want %d", last, at)
	}
}

func TestDecodedTimelineContinuesExactly(t *testing.T) {
	for _, before := range []int{0, 1, 100, 239, 240, 241, 5000} {
		whole, parts := new(Timeline), new(Timeline)
		r, s := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(3, 4))
		at := observe(whole, 0, before, r)
		observe(parts, 0, before, s)
		b, err := json.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 24<<10 {
			t.Errorf("after %d observations it has %d bytes", before, len(b))
		}
		parts = new(Timeline)
		if err := json.Unmarshal(b, parts); err != nil {
			t.Fatal(err)
		}
		observe(whole, at, 700, r)
		observe(parts, at, 700, s)
		if !reflect.DeepEqual(whole, parts) {
			t.Errorf("decoded after %d observations, it differs", before)
		}
	}
}

// A MANIFEST holds a timeline, and must be readable whatever that is.
func TestMalformedTimelineIsEmpty(t *testing.T) {
	for _, s := range []string{`7`, `"x"`, `[]`, `{"every":0,"points":[[1,1,0,0,0,0]]}`, `{"every":64,"points":[[2,1,0,0,0,0],[1,1,0,0,0,0]]}`,
		`{"every":64,"points":[[1,0,0,0,0,0]]}`, `{"every":64,"points":[[1e300,1,0,0,0,0]]}`, `{"every":64,"points":[[1,1,1e300,0,0,0]]}`, `{"every":64,"points":"no"}`} {
		line := Timeline{Every: 64, Drifts: []int64{1}}
		if err := json.Unmarshal([]byte(s), &line); err != nil || line.Every != 0 || line.Points != nil || line.Drifts != nil {
			t.Errorf("%s: %v, %v", s, line, err)
		}
	}
}

func TestTimelineIgnoresWhatIsNoObservation(t *testing.T) {
	if _, ok := NewErrors(1, 2, math.NaN(), 4); ok {
		t.Error("NaN is accepted")
	}
	e, ok := NewErrors(math.Inf(1), 0, 0, 0)
	if !ok || e.Model != math.MaxFloat32 {
		t.Errorf("infinity becomes %v, %v", e.Model, ok)
	}
	var line Timeline
	for _, n := range []int64{-1, 0, 5, 5, 4} {
		line.Add(n, Errors{})
		line.Drift(max(1, n))
	}
	if len(line.Points) != 1 || line.Points[0].Observations != 1 || len(line.Drifts) != 2 {
		t.Errorf("%+v", line)
	}
}
