package learner

import "github.com/accrete-ml/accrete/learner/internal/state"

// State is everything that determines later bits of a Learner. It shares no memory with
// it.
//
// It is the representation of the model and not only its function: with a scale factor
// multiplied into the coefficients, later steps would round differently. The names and
// the order of the arrays are part of the snapshot format.
type State struct {
	Serving  []Array // what predictions need: NewModel reads these alone
	Resuming []Array // what learning needs besides
}

// Array is one named part of a State: numbers in row-major order. It has a Name,
// lower case, at most 24 bytes and unique in its State, a Shape of rows and
// columns, and Data, which is a []float64, []float32, []int64 or []byte of
// Shape[0]*Shape[1] values.
type Array = state.Array
