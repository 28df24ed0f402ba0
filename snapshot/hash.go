package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/accrete-ml/accrete/learner"
)

// leafValues is the number of values of an array that are hashed as one leaf.
const leafValues = 64 << 10

// The first byte of every input to the hash, so that input of one kind cannot pass as input of
// another.
const (
	tagLeaf = iota
	tagNode
	tagArray
	tagPart
	tagSchema
	tagState
)

// StateHash returns the Merkle root over the canonical bytes of the schema and of the arrays: their
// names, types, shapes and values, in order. It does not depend on cores, machine or clock, nor on
// where the rows came from or how they were divided. It panics if CheckState rejects s.
func StateHash(schema []byte, s learner.State) Hash {
	if err := CheckState(s); err != nil {
		panic(err)
	}
	return stateHash(schema, hashPart(s.Serving), hashPart(s.Resuming))
}

func stateHash(schema []byte, serving, resuming Hash) Hash {
	sch := sha256.Sum256(append([]byte{tagSchema}, schema...))
	b := append([]byte{tagState}, "accrete state 1"...)
	b = append(b, sch[:]...)
	b = append(b, serving[:]...)
	return sha256.Sum256(append(b, resuming[:]...))
}

// hashPart hashes one list of arrays: their number, then each array's description
// and root, in order.
func hashPart(arrays []learner.Array) Hash {
	leaves := hashLeaves(arrays)
	b := binary.LittleEndian.AppendUint64([]byte{tagPart}, uint64(len(arrays)))
	for i, a := range arrays {
		root := merkle(leaves[i])
		d := append([]byte{tagArray}, byte(typeOf(a.Data)), byte(len(a.Name)))
		d = append(d, a.Name...)
		d = binary.LittleEndian.AppendUint64(d, uint64(a.Shape[0]))
		d = binary.LittleEndian.AppendUint64(d, uint64(a.Shape[1]))
		sum := sha256.Sum256(append(d, root[:]...))
		b = append(b, sum[:]...)
	}
	return sha256.Sum256(b)
}

// merkle returns the root over the leaves. If there are n > 1 leaves, the left subtree has the
// largest power of two below n (RFC 9162, section 2.1).
func merkle(leaves []Hash) Hash {
	if len(leaves) == 1 {
		return leaves[0]
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	l, r := merkle(leaves[:k]), merkle(leaves[k:])
	b := append([]byte{tagNode}, l[:]...)
	return sha256.Sum256(append(b, r[:]...))
}

// hashLeaves hashes the leaves of all arrays on all cores. An empty array has one
// empty leaf.
func hashLeaves(arrays []learner.Array) [][]Hash {
	type job struct{ array, leaf int }
	var jobs []job
	leaves := make([][]Hash, len(arrays))
	for i, a := range arrays {
		leaves[i] = make([]Hash, max(1, (length(a.Data)+leafValues-1)/leafValues))
		for j := range leaves[i] {
			jobs = append(jobs, job{i, j})
		}
	}
	var next atomic.Int64
	work := func() {
		var buf []byte
		for {
			n := int(next.Add(1)) - 1
			if n >= len(jobs) {
				return
			}
			j := jobs[n]
			data := arrays[j.array].Data
			from := j.leaf * leafValues
			leaves[j.array][j.leaf], buf = hashLeaf(data, from, min(from+leafValues, length(data)), buf)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return leaves
}

// hashLeaf hashes the values [from, to). It uses buf as scratch and returns it.
func hashLeaf(data any, from, to int, buf []byte) (Hash, []byte) {
	const step = 4 << 10 // number of values converted to bytes at a time
	h := sha256.New()
	h.Write([]byte{tagLeaf})
	for ; from < to; from += step {
		buf = appendValues(buf[:0], data, from, min(from+step, to))
		h.Write(buf)
	}
	var sum Hash
	h.Sum(sum[:0])
	return sum, buf
}

func sha(b []byte) Hash { return sha256.Sum256(b) }

// CheckState returns an error unless s is as learner.State requires: known types,
// valid and unique names, and numbers of values that match the shapes.
func CheckState(s learner.State) error {
	seen := make(map[string]bool)
	for _, part := range [][]learner.Array{s.Serving, s.Resuming} {
		for _, a := range part {
			if err := checkName(a.Name); err != nil {
				return err
			}
			if seen[a.Name] {
				return fmt.Errorf("two arrays are named %q", a.Name)
			}
			seen[a.Name] = true
			t := typeOf(a.Data)
			if t == 0 {
				return fmt.Errorf("array %q is a %T", a.Name, a.Data)
			}
			bytes, ok := t.bytes(int64(a.Shape[0]), int64(a.Shape[1]))
			if n := length(a.Data); !ok || bytes != int64(n)*t.size() {
				return fmt.Errorf("array %q has shape %v and %d values", a.Name, a.Shape, n)
			}
		}
	}
	return nil
}

func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("array name %q has %d bytes, want 1 to %d", name, len(name), maxName)
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c > '~' || 'A' <= c && c <= 'Z' {
			return fmt.Errorf("array name %q is not lower case ASCII", name)
		}
	}
	return nil
}
