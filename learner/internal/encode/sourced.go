package encode

// sourced is a column that windows are computed from, and that is no input. It becomes the
// constant 0.
var sourced = encoder{
	name:    "sourced",
	width:   one,
	apply:   func(_ *column, dst []float64, _ float64, _ *prior) { dst[0] = 0 },
	valid:   none,
	becomes: func(*column) string { return "nothing: windows are computed from it" },
}
