package warmup

// Version is the version of the rules by which the warm-up chooses. A model keeps the one that it
// was created with.
type Version int

const (
	// First mixes many classes at random, so that their numbers have an influence on the
	// choice, and takes narrow kernels between indicators where little can be predicted.
	First Version = 0

	// Second does neither, and has a fit at each of Checkpoints.
	Second Version = 2

	// Third has fewer fits, and does not try kernels that are too fine to learn from any
	// other row.
	Third Version = 3

	// Fourth has one member for each penalty until its last fit.
	Fourth Version = 4

	// Fifth has, until its last fit, random features in proportion to its rows.
	Fifth Version = 5

	// Sixth has, until its last fit, a model as simple as it can be, see engine.Options.Plain,
	// and makes its choices on fewer rows. The last fit prefers a narrower kernel where the best
	// one takes the weakest penalty.
	Sixth Version = 6

	// Seventh does not search for the penalty of a width that is clearly worse than the one beside
	// it. It starts the search for other column weights from the choice for equal ones.
	Seventh Version = 7

	// Eighth makes the choices of Seventh, for a model with engine.Options.Late.
	Eighth Version = 8

	// Ninth makes the choices of Seventh, for a model with engine.Options.LastingClasses.
	Ninth Version = 9

	// Tenth chooses the weight of the prior mean in the statistics of a category, see
	// encode.Encoding.Credit, and gives trees random orders of its values, see
	// encode.Encoding.Order. It makes the other choices of Ninth.
	Tenth Version = 10

	// Eleventh makes the choices of Tenth, for a model with engine.Options.Early.
	Eleventh Version = 11

	// Twelfth makes the choices of Tenth, for a model with engine.Options.Long.
	Twelfth Version = 12

	// Thirteenth makes the choices of Tenth. The monitor of the inputs raises no alarm for rare values
	// that its reference does not contain: see divergence.NewWatch.
	Thirteenth Version = 13

	// Fourteenth makes the choices of Tenth, for a model with engine.Options.Sparing.
	Fourteenth Version = 14

	// Fifteenth makes the choices of Tenth. A scorer predicts a combination of the experts of the
	// mixture, and not a weighted mean of them: see mixture.New.
	Fifteenth Version = 15

	// Sixteenth has the encoding expect what comes after the warm-up: see encode.Encoding.Open. Columns
	// that are constant do not count for the column weights. It makes the other choices of Tenth, for a
	// model with engine.Options.Varying.
	Sixteenth Version = 16

	// Seventeenth makes the choices of Sixteenth. A mixture extrapolates linearly: see mixture.Margin.
	Seventeenth Version = 17

	// Eighteenth makes the choices of Seventeenth, but that constant columns count for the mean of the
	// column weights: see sample.unseen.
	Eighteenth Version = 18

	// Nineteenth makes the choices of Eighteenth, for a model with engine.Options.HeldOut.
	Nineteenth Version = 19

	// Twentieth chooses no narrower kernel that predicts far less than the best one, and the typical one
	// where nothing can be predicted: see maxLost and leastExplained. It makes the other choices of
	// Eighteenth, for a model with engine.Options.HeldOut and
	// engine.Options.Solved.
	Twentieth Version = 20

	// TwentyFirst makes the choices of Twentieth, for a model with engine.Options.Fitting.
	TwentyFirst Version = 21

	// Newest is the version of new models.
	Newest = TwentyFirst
)

// Valid reports whether there is such a version.
func (v Version) Valid() bool { return v == First || v >= Second && v <= Newest }
