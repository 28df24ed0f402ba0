package constants

import (
	"bytes"
	"testing"
)

func TestNumbersAreScaledByTheirKind(t *testing.T) {
	for _, test := range []struct{ value, half, twice string }{
		{"0.5", "0.25", "1.0"},
		{"8192", "4096", "16384"},
		{"1", "1", "2"},
		{"1e-3", "0.0005", "0.002"},
		{"1.05", "1.025", "1.1"},
		{"1.5", "1.25", "2.0"},
		{"0.9994", "0.9997", "0.9988"},
		{"[...]int{64, 100}", "[...]int{32, 50}", "[...]int{128, 200}"},
		{"[2]float64{1, 0.99}", "[2]float64{1, 0.995}", "[2]float64{2, 0.98}"},
		{"[]member{{0.3, windowRows}}", "[]member{{0.15, windowRows}}", "[]member{{0.6, windowRows}}"},
	} {
		c := Constant{Value: test.value}
		if half, twice := c.Scaled(0.5), c.Scaled(2); half != test.half || twice != test.twice {
			t.Errorf("%s: half is %s and twice %s, want %s and %s", test.value, half, twice, test.half, test.twice)
		}
	}
}

// Every constant is found again in the file that has another value.
func TestSourceHasTheOtherValue(t *testing.T) {
	all, err := Find("../..")
	if err != nil || len(all) < 50 {
		t.Fatalf("%d constants, %v", len(all), err)
	}
	for _, c := range all {
		same, err := c.Source("../..", c.Value)
		if err != nil {
			t.Fatal(err)
		}
		other, err := c.Source("../..", "other")
		if err != nil {
			t.Fatal(err)
		}
		if want := append(append(bytes.Clone(same[:c.at]), "other"...), same[c.at+len(c.Value):]...); !bytes.Equal(other, want) {
			t.Errorf("%s: the value is not at %d of %s", c.Name, c.at, c.Path)
		}
	}
}
