// Package ngram hashes the n-grams of texts.
package ngram

import (
	"math"
	"slices"
)

// lower maps the bytes of a text to those of words: ASCII letters to lower case, and separators of
// words to 0.
var lower = func() (of [256]byte) {
	for i := range of {
		switch c := byte(i); {
		case c >= 'A' && c <= 'Z':
			of[i] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c-'0' <= 9, c >= 0x80:
			of[i] = c
		}
	}
	return of
}()

// Hash sets x to the hashed n-grams of a text (Weinberger and others 2009, equation 2). The
// n-grams are words, pairs of adjacent words, and sequences of three bytes in a word or at its
// ends. A word consists of letters and digits, with ASCII letters in lower case. Each n-gram adds
// 1 or -1 to a bucket. Finally x is scaled to length 1; it is 0 for a text without words.
func Hash(x []float64, text []byte) {
	clear(x)
	add := func(h uint64) {
		h = mixed(h)
		if i := h >> 1 % uint64(len(x)); h&1 == 0 {
			x[i]++
		} else {
			x[i]--
		}
	}
	last, word, three := uint64(0), uint64(0), uint64(0)
	end := func() {
		if word == 0 {
			return
		}
		add(three<<8 | ' ')
		add(word)
		if last != 0 {
			add(last*prime + word)
		}
		last, word, three = word, 0, 0
	}
	for _, c := range text {
		if c = lower[c]; c == 0 {
			end()
			continue
		}
		if word == 0 {
			word, three = start, ' '
		} else {
			add(three<<8 | uint64(c))
		}
		three = (three<<8 | uint64(c)) & 0xffff
		word = (word ^ uint64(c)) * prime
	}
	end()
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	if sum > 0 {
		scale := 1 / math.Sqrt(sum)
		for i := range x {
			x[i] *= scale
		}
	}
}

// Words calls add with a hash of each word of a text, and of each pair of adjacent words. Words
// are defined as for Hash.
func Words(text []byte, add func(hash uint64)) {
	last := uint64(0)
	each(text, func(word uint64, _ []byte) {
		add(mixed(word))
		if last != 0 {
			add(mixed(last*prime + word))
		}
		last = word
	})
}

// Keys are the hashes of n-grams of a text, those of each kind without duplicates: words, pairs of
// adjacent words, and sequences of three bytes in a word or at its ends. They are defined as for Hash.
type Keys struct {
	Pairs, Threes, Words []uint64

	lengths []int // of the words
}

// Set sets k to the n-grams of a text: the first pairs and sequences, and the longest words, of each
// kind at most that many. Long words are rarer than short ones (Zipf 1935), and tell more of what a
// text is about.
func (k *Keys) Set(text []byte, most int) {
	k.Pairs, k.Threes, k.Words, k.lengths = k.Pairs[:0], k.Threes[:0], k.Words[:0], k.lengths[:0]
	last := uint64(0)
	each(text, func(word uint64, letters []byte) {
		k.addWord(mixed(word), len(letters), most)
		if last != 0 {
			k.Pairs = addFirst(k.Pairs, mixed(last*prime+word), most)
		}
		last = word
		three := uint64(' ')
		for i, c := range letters {
			if i > 0 {
				k.Threes = addFirst(k.Threes, mixed(three<<8|uint64(lower[c])), most)
			}
			three = (three<<8 | uint64(lower[c])) & 0xffff
		}
		k.Threes = addFirst(k.Threes, mixed(three<<8|' '), most)
	})
}

// addFirst appends a hash unless keys has it, or is full.
func addFirst(keys []uint64, hash uint64, most int) []uint64 {
	if len(keys) == most || slices.Contains(keys, hash) {
		return keys
	}
	return append(keys, hash)
}

// addWord adds a word unless k has it. If k is full, it replaces the last of the shortest words, or is
// left out if it is not longer.
func (k *Keys) addWord(hash uint64, length, most int) {
	if slices.Contains(k.Words, hash) {
		return
	}
	if len(k.Words) == most {
		shortest := 0
		for i, n := range k.lengths {
			if n <= k.lengths[shortest] {
				shortest = i
			}
		}
		if length <= k.lengths[shortest] {
			return
		}
		k.Words = slices.Delete(k.Words, shortest, shortest+1)
		k.lengths = slices.Delete(k.lengths, shortest, shortest+1)
	}
	k.Words, k.lengths = append(k.Words, hash), append(k.lengths, length)
}

// start and prime are those of FNV-1a.
const start, prime = 0xcbf29ce484222325, 0x100000001b3

// each calls word with a hash of each word of a text, and its letters.
func each(text []byte, word func(hash uint64, letters []byte)) {
	hash, from := uint64(start), 0
	for i, c := range text {
		if c = lower[c]; c != 0 {
			hash = (hash ^ uint64(c)) * prime
			continue
		}
		if from < i {
			word(hash, text[from:i])
		}
		hash, from = start, i+1
	}
	if from < len(text) {
		word(hash, text[from:])
	}
}

// mixed spreads the differences of two hashes over all of their bits.
func mixed(h uint64) uint64 {
	h ^= h >> 32
	h *= 0x9fb21c651e98df25
	return h ^ h>>29
}
