package hints

const (
	// fewClasses is the number of different whole numbers up to which labels are always taken for
	// classes. More different numbers are taken for counts or scores if they have many gaps, do not
	// begin at 0 or 1, or are more than mostClasses.
	fewClasses  = 10
	mostClasses = 32
)

// Labels collects numbers that are labels. The zero value has none.
type Labels struct {
	fractions   bool // a number is not whole
	least, most float64
	different   map[float64]struct{} // at most mostClasses + 1
}

// Add adds a label.
func (l *Labels) Add(v float64) {
	if l.fractions = l.fractions || v != float64(int64(v)); l.fractions {
		return
	}
	if l.different == nil {
		l.different, l.least, l.most = map[float64]struct{}{}, v, v
	}
	l.least, l.most = min(l.least, v), max(l.most, v)
	if len(l.different) <= mostClasses {
		l.different[v+0] = struct{}{} // -0 is 0
	}
}

// Classes returns the number of different labels if they look like classes: whole numbers, of which
// there are few, or that leave out few from 0 or 1 on. Otherwise it returns 0.
func (l *Labels) Classes() int {
	n := len(l.different)
	dense := (l.least == 0 || l.least == 1) && 3*(l.most-l.least+1) <= float64(4*n)
	if !l.fractions && (n <= fewClasses || dense && n <= mostClasses) {
		return n
	}
	return 0
}
