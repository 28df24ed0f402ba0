package engine

import "github.com/accrete-ml/accrete/features"

// Options are what an engine needs of the Learner's configuration.
type Options struct {
	BlockSize      int // random features in a block
	MaxFeatures    int
	Minibatch      int
	Lambda         float64 // weight of ‖f‖²/2 in the objective; 0: the penalty of the warm-up
	Seed           uint64
	Sampling       features.Sampling
	Direction      string // of a step, see package descent
	Forest         int    // trees whose leaves are features as well
	ForestTrial    bool   // discard the trees unless they pay; the options of a forest that follow need it
	ForestPairs    bool   // pairs of categories have trees as well
	ForestRegrow   bool   // the trees grow again from more rows
	ForestLasting  bool   // leaves also learn the errors of the mixture on all rows since the trees grew
	LastingClasses bool   // ForestLasting is for classes as well
	Discard        bool   // of newton: discard members that do not pay
	Effort         int    // of algorithms that have one; AutoEffort: chosen by the first rows

	// Lean is for a model in a mixture: take fewer steps, with fewer Gram matrices, in the first
	// rows, change averages less often, and leave the scores of rows that no member learns from.
	Lean bool

	// Warming means that the last fit of the warm-up has yet to come, with which the model starts
	// again.
	Warming bool

	// Frugal means to have fewer random features while Warming, and to take fewer steps
	// afterwards when the rows so far are learned again.
	Frugal bool

	// Plain means to have few members, without averages and trackers, and to take fewer steps
	// while Warming.
	Plain bool

	// Late is for newton: averages begin only once the window is full, models of many classes in
	// a mixture have no member for changes, and trees on trial have wider limits at first.
	Late bool

	// Early is for newton: trees on trial grow during the warm-up already, and again soon; models
	// with young trees take more steps; and a model settles if its rows end early.
	Early bool

	// Long is for newton in a mixture: have a longer window if rows have few inputs and labels
	// are noisy.
	Long bool

	// Sparing is for newton: make half of the row visits in a long window whose labels are mostly
	// noise.
	Sparing bool

	// HeldOut is for newton with Early: a model of numbers that settles with young trees grades its
	// members by rows that are held out, as well as by their progressive losses.
	HeldOut bool

	// Solved is for newton with Early: a model of numbers that settles with few rows solves for its
	// coefficients, and takes no steps.
	Solved bool

	// Fitting is for newton: a Gram matrix is of rows from all over the window, not of the last ones,
	// and lasts for as long as it fits them, which the lengths of steps tell, not for a few steps.
	Fitting bool

	// Varying is for newton: columns that are constant when trees grow do not count for the columns
	// that are compared at a node.
	Varying bool

	Steps
}

// AutoEffort is an effort that the first rows choose.
const AutoEffort = -1

// Steps are the options of stochastic descent. The zero value of each selects the
// default; see package descent.
type Steps struct {
	StepSize    float64 // γ₀: that of the first step
	Theta       float64 // θ: the step size tends to θ/t
	NewSteps    int     // of udsg: steps in new blocks, in turn with OldSteps in existing ones
	OldSteps    int
	LongestStep float64 // of cdsg: largest step size in an existing block, relative to a new one
	Averaging   string  // which iterate or average serves
	Memory      int64   // bytes that bound the features instead of MaxFeatures; 0: none
	AtCap       string  // what a step does to a model that may not grow
}

// Sizes are the rows of a mini-batch and the random features of a block.
type Sizes struct{ Minibatch, BlockSize int }

// MaxBlocks returns the largest number of blocks of a model.
func (o Options) MaxBlocks() int { return (o.MaxFeatures + o.BlockSize - 1) / o.BlockSize }

// maxFrequencies bounds the frequencies of a model as the reader of a State does.
const maxFrequencies = 1 << 28

// BlocksWithin returns the largest number of blocks of a model of stochastic descent with that many
// scores, whose frequencies take that many bytes for each random feature: MaxBlocks or, with
// Memory, no more than fit into it. A random feature takes
//
//	2 × (5 × 2 × scores × 20 + bytes of its frequency + 4)
//
// bytes: a cosine and a sine have two coefficients of 8 bytes and one of 4 for each score in a
// snapshot, 28 bytes with the direction adagrad; a learner holds five times a snapshot, and the
// frequencies; and the 2 is the growth of the heap between collections.
func (o Options) BlocksWithin(frequency, scores int) int {
	if o.Memory == 0 {
		return o.MaxBlocks()
	}
	coefficient := int64(20)
	if o.Direction == "adagrad" {
		coefficient = 28
	}
	feature := 2 * (5*2*int64(scores)*coefficient + int64(frequency) + 4)
	blocks := o.Memory / (feature * int64(o.BlockSize))
	return int(max(1, min(blocks, int64(o.MaxBlocks()), maxFrequencies/int64(max(1, frequency/4)*o.BlockSize))))
}

// FeatureMap returns the map of the features of rows of dim inputs, without the kernel.
func (o Options) FeatureMap(dim int) features.Map {
	return features.Map{Dim: dim, BlockSize: o.BlockSize, Seed: o.Seed, Sampling: o.Sampling}
}
