package forest

import "math"

// key is an integer that has the same order among other keys as the value that it stands for. The
// minimum and the maximum of keys need no branches, which would be unpredictable here. Both
// zeros have the same key.
type key int32

// keyOf returns the key of v, which is not NaN.
func keyOf(v float32) key {
	if v == 0 {
		return 0
	}
	return key(math.Float32bits(v)).mirrored()
}

// value returns the value of k.
func (k key) value() float32 { return math.Float32frombits(uint32(k.mirrored())) }

// mirrored reverses the order of the negative numbers. Twice, it changes nothing.
func (k key) mirrored() key { return k ^ key(uint32(k>>31)>>1) }
