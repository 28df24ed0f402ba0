package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// partOf returns what the column of a name is a part of another for: "text" or "key"; empty
// if it is one of its own.
func (d *decoder) partOf(name string) string {
	for field, t := range d.input.Types {
		if t == "time:since" && name == field+":key" {
			return "key"
		}
		if rest, ok := strings.CutPrefix(name, field+":"); t == "text" && ok && slices.Contains(buckets(), rest) {
			return "text"
		}
	}
	return ""
}

func buckets() (all []string) {
	for i := range 64 {
		all = append(all, fmt.Sprintf("%02d", i))
	}
	return all
}

// withParts replaces names by those of their parts.
func (d *decoder) withParts(names []string) (all []string) {
	for _, name := range names {
		switch d.input.Types[name] {
		case "text":
			for _, b := range buckets() {
				all = append(all, name+":"+b)
			}
		case "time:since":
			all = append(all, name, name+":key")
		default:
			all = append(all, name)
		}
	}
	return all
}

// text sets the values of the parts of a text.
func (d *decoder) text(values map[string]float64, name string, raw json.RawMessage) (ok bool) {
	x := make([]float64, 64)
	switch {
	case string(raw) == "null" && d.input.Missing == "quarantine":
		return false
	case string(raw) == "null":
		for i := range x {
			x[i] = math.NaN()
		}
	case raw[0] != '"':
		return false
	default:
		var s string
		json.Unmarshal(raw, &s)
		x = ngrams(s)
	}
	for i, b := range buckets() {
		values[name+":"+b] = x[i]
	}
	return true
}

var word = regexp.MustCompile(`(?:[0-9A-Za-z]|[^\x00-\x7f])+`)

// ngrams counts the words, the pairs of words and the groups of three bytes of a text.
func ngrams(s string) []float64 {
	x := make([]float64, 64)
	count := func(h uint64) {
		h = (h ^ h>>32) * 0x9fb21c651e98df25
		h ^= h >> 29
		x[h>>1%64] += 1 - 2*float64(h&1)
	}
	const prime = 1<<40 + 0x1b3
	last := uint64(0)
	for _, w := range word.FindAll([]byte(s), -1) {
		for i, c := range w {
			if c < 0x80 {
				w[i] = bytes.ToLower([]byte{c})[0]
			}
		}
		h := uint64(0xcbf29ce484222325) // FNV-1a
		for _, c := range w {
			h = (h ^ uint64(c)) * prime
		}
		padded := append(append([]byte{' '}, w...), ' ')
		for i := 0; i+3 <= len(padded); i++ {
			count(uint64(padded[i])<<16 | uint64(padded[i+1])<<8 | uint64(padded[i+2]))
		}
		count(h)
		if last != 0 {
			count(last*prime + h)
		}
		last = h
	}
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	if sum > 0 {
		for i := range x {
			x[i] *= 1 / math.Sqrt(sum)
		}
	}
	return x
}

// withKey sets the column of the key of a record, if there is one.
func (d *decoder) withKey(x []float64, columns []string, key []byte) {
	for i, name := range columns {
		if i < len(x) && d.partOf(name) == "key" {
			if x[i] = math.NaN(); key != nil {
				x[i] = float64(xxhash.Sum64(key) >> 12)
			}
		}
	}
}
