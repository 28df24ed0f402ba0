package learner

import "github.com/accrete-ml/accrete/learner/internal/state"

// State is all that can change a later bit of a Learner. It shares no memory
// with it.
//
// It is the representation and not just the function that it stands for: a
// scale factor folded into the coefficients would round differently from then
// on. The order of the arrays is fixed, and part of the snapshot format.
type State struct {
	Serving  []Array // what it takes to predict: NewModel reads these alone
	Resuming []Array // what it takes to go on learning, besides
}

// Array is one named part of a State: numbers in row-major order. It has a Name,
// lower case, at most 24 bytes and unique in its State, a Shape of rows and
// columns, and Data, which is a []float64, []float32, []int64 or []byte of
// Shape[0]*Shape[1] values.
type Array = state.Array
