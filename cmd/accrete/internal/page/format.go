package page

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
)

// figure formats an error with four decimals, or four digits if it is large.
func figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.Abs(v) < 10:
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// short formats a count in at most five characters.
func short(n float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(n) >= u.of {
			return strconv.FormatFloat(n/u.of, 'g', 3, 64) + u.name
		}
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// Size formats a number of bytes.
func Size(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/1024, "KiB"
	for _, u := range []string{"MiB", "GiB", "TiB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1024, u
	}
	return strconv.FormatFloat(v, 'f', digits(v), 64) + " " + unit
}

func digits(v float64) int {
	switch {
	case v < 10:
		return 2
	case v < 100:
		return 1
	}
	return 0
}

// took formats a duration of computing.
func took(d time.Duration) string {
	switch ms := float64(d) / 1e6; {
	case d <= 0:
		return "–"
	case ms < 1:
		return strconv.FormatFloat(ms*1000, 'f', 0, 64) + " µs"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', digits(ms), 64) + " ms"
	default:
		return strconv.FormatFloat(ms/1000, 'f', digits(ms/1000), 64) + " s"
	}
}

// Span formats a longer time with its two largest units.
func Span(d time.Duration) string {
	s := int64(max(0, d) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
	}
	return fmt.Sprintf("%d d %d h", s/86400, s/3600%24)
}

var decimals = regexp.MustCompile(`[0-9]+\.[0-9]{4,}(e[+-]?[0-9]+)?`)

// rounded shortens the numbers in the name of a kernel to four digits.
func rounded(kernel string) string {
	return decimals.ReplaceAllStringFunc(kernel, func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	})
}

func count(n int64) string { return display.Thousands(n) }

// Printable returns the first most characters of text, and " …" if there are more. Characters that
// are not printable, such as direction marks, could change how the page is displayed; they become
// dots.
func Printable(text string, most int) string {
	var b strings.Builder
	for _, r := range text {
		if most--; most < 0 {
			b.WriteString(" …")
			break
		}
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			r = '·'
		}
		b.WriteRune(r)
	}
	return b.String()
}
