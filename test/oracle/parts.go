package oracle

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// partOf returns the kind of a column that is computed from other fields: "text", "gram", "key", "pair",
// "window" or "source". It is empty for a column that is a field itself.
func (d *decoder) partOf(name string) string {
	switch {
	case d.input.Types[name] == "pair":
		return "pair"
	case d.windowed[name] == "window", name == recordKey || name == recordTime:
		return d.windowed[name]
	}
	for field, t := range d.input.Types {
		if t == "time:since" && name == field+":key" {
			return "key"
		}
		switch rest, ok := strings.CutPrefix(name, field+":"); {
		case t == "text" && ok && slices.Contains(buckets(), rest):
			return "text"
		case t == "text" && ok && d.input.Grams && slices.Contains(grams(), rest):
			return "gram"
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

// grams returns the columns with the keys of n-grams: 64 of each kind.
func grams() (all []string) {
	for _, kind := range []string{"p", "t", "w"} {
		for _, b := range buckets() {
			all = append(all, kind+b)
		}
	}
	return all
}

// withParts replaces the names of columns that consist of several parts by the names of these
// parts.
func (d *decoder) withParts(names []string) (all []string) {
	for _, name := range names {
		switch d.input.Types[name] {
		case "text":
			of := buckets()
			if d.input.Grams {
				of = append(of, grams()...)
			}
			for _, b := range of {
				all = append(all, name+":"+b)
			}
		case "time:since":
			all = append(all, name, name+":key")
		default:
			all = append(all, name)
		}
	}
	if len(names) > 0 {
		all = append(all, d.pairs()...)
		all = append(all, slices.Sorted(maps.Keys(d.windowed))...)
	}
	return all
}

// pairs returns the names of the declared pairs.
func (d *decoder) pairs() (names []string) {
	for name, t := range d.input.Types {
		if t == "pair" {
			names = append(names, name)
		}
	}
	return names
}

// withPairs sets the columns of pairs, each of which combines two other columns.
func (d *decoder) withPairs(x []float64, columns []string) {
	for _, name := range d.pairs() {
		a, b, _ := strings.Cut(name, "*")
		i, j, at := slices.Index(columns, a), slices.Index(columns, b), slices.Index(columns, name)
		if max(i, j, at) >= len(x) || min(i, j, at) < 0 {
			continue
		}
		if x[at] = math.NaN(); x[i] == x[i] || x[j] == x[j] {
			var text []byte
			for _, v := range []float64{x[i], x[j]} {
				if v == 0 {
					v = math.Abs(v)
				}
				if v != v {
					v = math.NaN()
				}
				text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
			}
			x[at] = float64(xxhash.Sum64(text) >> 12)
		}
	}
}

// text sets the values of the columns that a text is split into.
func (d *decoder) text(values map[string]float64, name string, raw json.RawMessage) (ok bool) {
	x, keys := make([]float64, 64), make([]float64, 3*64)
	switch {
	case string(raw) == "null" && d.input.Missing == "quarantine":
		return false
	case string(raw) == "null":
		for i := range x {
			x[i] = math.NaN()
		}
		for i := range keys {
			keys[i] = math.NaN()
		}
	case raw[0] != '"':
		return false
	default:
		var s string
		json.Unmarshal(raw, &s)
		x = ngrams(s)
		keys = keysOf(s)
	}
	for i, b := range buckets() {
		values[name+":"+b] = x[i]
	}
	for i, b := range grams() {
		values[name+":"+b] = keys[i]
	}
	return true
}

// keysOf returns the keys of the n-grams of a text: the first pairs, the first groups of three bytes,
// and the longest words.
func keysOf(s string) (keys []float64) {
	pairs, threes, words := parted(s)
	for _, kind := range [][]gram{distinct(pairs), distinct(threes), longest(distinct(words))} {
		for i := range 64 {
			v := 0.0
			if i < len(kind) {
				v = max(1, float64(mixed(kind[i].hash)>>12))
			}
			keys = append(keys, v)
		}
	}
	return keys
}

func distinct(all []gram) (kept []gram) {
	for _, g := range all {
		if !slices.Contains(kept, g) {
			kept = append(kept, g)
		}
	}
	return kept
}

// longest returns the 64 longest words, and of equal length the first ones, in their order.
func longest(words []gram) []gram {
	sorted := slices.Clone(words)
	slices.SortStableFunc(sorted, func(a, b gram) int { return b.length - a.length })
	sorted = sorted[:min(64, len(sorted))]
	return slices.DeleteFunc(words, func(g gram) bool { return !slices.Contains(sorted, g) })
}

func mixed(h uint64) uint64 {
	h = (h ^ h>>32) * 0x9fb21c651e98df25
	return h ^ h>>29
}

type gram struct {
	hash   uint64
	length int
}

var word = regexp.MustCompile(`(?:[0-9A-Za-z]|[^\x00-\x7f])+`)

// parted returns the pairs of words, the groups of three bytes and the words of a text.
func parted(s string) (pairs, threes, words []gram) {
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
			threes = append(threes, gram{uint64(padded[i])<<16 | uint64(padded[i+1])<<8 | uint64(padded[i+2]), 3})
		}
		words = append(words, gram{h, len(w)})
		if last != 0 {
			pairs = append(pairs, gram{last*prime + h, 0})
		}
		last = h
	}
	return pairs, threes, words
}

// ngrams counts the words, the pairs of words and the groups of three bytes of a text.
func ngrams(s string) []float64 {
	x := make([]float64, 64)
	pairs, threes, words := parted(s)
	for _, g := range slices.Concat(pairs, threes, words) {
		h := mixed(g.hash)
		x[h>>1%64] += 1 - 2*float64(h&1)
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

// withKey sets the columns that hold the key of the record.
func (d *decoder) withKey(x []float64, columns []string, key []byte) {
	for i, name := range columns {
		if i < len(x) && d.partOf(name) == "key" {
			if x[i] = math.NaN(); key != nil {
				x[i] = float64(xxhash.Sum64(key) >> 12)
			}
		}
	}
}
