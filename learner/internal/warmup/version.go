package warmup

// Version is that of the rules by which the warm-up chooses. A model keeps the one that it
// was created with.
type Version int

const (
	// First mixes many classes at random, so that their numbers have an influence on the
	// choice, and takes narrow kernels between indicators where little can be predicted.
	First Version = 0

	// Newest is the version of new models.
	Newest Version = 2
)

// Valid reports whether there is such a version.
func (v Version) Valid() bool { return v == First || v == Newest }
