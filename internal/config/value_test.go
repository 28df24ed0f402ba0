package config

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDurationsReadBack(t *testing.T) {
	for text, want := range map[string]time.Duration{"1m": time.Minute, "5ms": 5 * time.Millisecond, "2h": 2 * time.Hour, "1h0m5s": time.Hour + 5*time.Second, "0s": 0, "1m30s": 90 * time.Second, "10m": 10 * time.Minute} {
		d, err := ParseDuration(text)
		if err != nil || time.Duration(d) != want || d.String() != text {
			t.Errorf("%s: got %v, %v", text, d, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64().Draw(t, "d"))
		if back, err := ParseDuration(d.String()); err != nil || back != d {
			t.Errorf("%d prints %v, which reads as %d, %v", d, d, back, err)
		}
	})
}

func TestSizesReadBack(t *testing.T) {
	for text, want := range map[string]Size{"2GiB": 2 << 30, "64MiB": 64 << 20, "1000": 1000, "5GB": 5e9, "1 KiB": 1 << 10, "0": 0, "7b": 7} {
		if s, err := ParseSize(text); err != nil || s != want {
			t.Errorf("%s: got %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "1.5GiB", "1GiBs", "9223372036854775807KiB", "1 2"} {
		if s, err := ParseSize(text); err == nil {
			t.Errorf("%q reads as %v", text, s)
		}
	}
	for want, s := range map[string]Size{"0B": 0, "2MB": 2e6, "512MB": 512e6, "64MiB": 64 << 20, "1GiB": 1 << 30, "1kB": 1000, "1KiB": 1024, "1500B": 1500, "3TB": 3e12} {
		if got := s.String(); got != want {
			t.Errorf("%d prints %s, want %s", int64(s), got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Size(rapid.Int64Min(0).Draw(t, "s") << rapid.IntRange(0, 40).Draw(t, "shift") & (1<<62 - 1))
		if back, err := ParseSize(s.String()); err != nil || back != s {
			t.Errorf("%d prints %v, which reads as %d, %v", s, s, back, err)
		}
	})
}

func FuzzNoFileCrashes(f *testing.F) {
	f.Add(least)
	f.Add("a: {b: [1, 2]}\n? x\n: - 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := &file{name: "f", config: blank(), lines: map[string]int{}}
		p.parse(text)
	})
}
