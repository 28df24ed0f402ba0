// Package ngram hashes the n-grams of texts.
package ngram

import (
	"math"
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
	const prime = 0x100000001b3
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
			word, three = 0xcbf29ce484222325, ' '
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
	const start, prime = 0xcbf29ce484222325, 0x100000001b3
	last, word := uint64(0), uint64(start)
	end := func() {
		if word == start {
			return
		}
		add(mixed(word))
		if last != 0 {
			add(mixed(last*prime + word))
		}
		last, word = word, start
	}
	for _, c := range text {
		if c = lower[c]; c == 0 {
			end()
			continue
		}
		word = (word ^ uint64(c)) * prime
	}
	end()
}

// mixed spreads the differences of two hashes over all of their bits.
func mixed(h uint64) uint64 {
	h ^= h >> 32
	h *= 0x9fb21c651e98df25
	return h ^ h>>29
}
