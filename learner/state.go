package learner

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
