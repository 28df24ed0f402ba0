package loss

// Square is the loss (f-y)²/2. Its minimiser is the mean.
type Square struct{}

func (Square) Value(f []float64, y float64) float64 {
	d := f[0] - y
	return d * d / 2
}

func (Square) Grad(dst, f []float64, y float64) { dst[0] = f[0] - y }

func (Square) grads(dst, f, y []float64, models, _ int) {
	for i, t := range y {
		f, dst := f[i*models:(i+1)*models], dst[i*models:]
		for m, f := range f {
			dst[m] = f - t
		}
	}
}

func (Square) Link(dst, f []float64) { dst[0] = f[0] }
func (Square) Scores(int) int        { return 1 }
func (Square) Smoothness() float64   { return 1 }
func (Square) Classifies() bool      { return false }
func (Square) String() string        { return "square" }

func (Square) Conjugate(u []float64, y float64) float64 {
	return float64(u[0]*u[0]/2) + float64(y*u[0])
}

func (Square) Prox(u, s []float64, y, r float64) { u[0] = (s[0] - y + float64(r*u[0])) / (1 + r) }
func (Square) DualStart(u []float64, _ float64)  { u[0] = 0 }
