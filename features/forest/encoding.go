package forest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Encode returns the nodes of all trees in preorder: a uvarint for each node, 0 for a
// leaf and otherwise 1 + its column; and the thresholds of those that are no leaves.
func (f *Forest) Encode() (columns []byte, thresholds []float32) {
	var pending []int32
	for _, root := range f.roots {
		pending = append(pending[:0], root)
		for len(pending) > 0 {
			at := pending[len(pending)-1]
			pending = pending[:len(pending)-1]
			n := &f.nodes[at]
			if n.left == at {
				columns = append(columns, 0)
				continue
			}
			columns = binary.AppendUvarint(columns, uint64(n.column)+1)
			thresholds = append(thresholds, n.threshold)
			pending = append(pending, n.left+1, n.left)
		}
	}
	return columns, thresholds
}

// maxTreeLeaves is the largest number of leaves of a tree.
const maxTreeLeaves = 1 << 16

// Decode returns the forest that Encode wrote, for rows of dim values. The arguments may
// come from anywhere: an invalid encoding is an error.
func Decode(columns []byte, thresholds []float32, dim int) (*Forest, error) {
	if dim < 1 || len(columns) == 0 || len(columns) > math.MaxInt32/2 {
		return nil, fmt.Errorf("forest: %d bytes of columns, for rows of %d values", len(columns), dim)
	}
	var trees [][]node
	for len(columns) > 0 {
		tree := make([]node, 1)
		pending, leaves := []int32{0}, int32(0)
		for len(pending) > 0 {
			at := pending[len(pending)-1]
			pending = pending[:len(pending)-1]
			c, n := binary.Uvarint(columns)
			if n <= 0 || c > uint64(dim) || n > 1 && c < 1<<(7*(n-1)) {
				return nil, errors.New("forest: a column is invalid, or the last tree is incomplete")
			}
			columns = columns[n:]
			if c == 0 {
				tree[at] = leafNode(at, leaves)
				if leaves++; leaves > maxTreeLeaves {
					return nil, errors.New("forest: a tree has too many leaves")
				}
				continue
			}
			if len(thresholds) == 0 {
				return nil, errors.New("forest: there are fewer thresholds than splits")
			}
			child := int32(len(tree))
			tree[at] = node{threshold: thresholds[0], column: int32(c - 1), left: child}
			thresholds = thresholds[1:]
			tree = append(tree, node{}, node{})
			pending = append(pending, child+1, child)
		}
		trees = append(trees, tree)
	}
	if len(thresholds) > 0 {
		return nil, errors.New("forest: there are more thresholds than splits")
	}
	return empty(dim).with(trees), nil
}
