package refit

import "github.com/accrete-ml/accrete/internal/vec"

// MatrixRisk returns the problem that Yu, Lin and Yang (2015, section 6.2) draw at
// random: n rows of p matrices d x d, the smooth hinge, and the labels that
// identity matrices give to the rows. Of a matrix only the symmetric part matters,
// and only that is kept, in 2npd² bytes.
func MatrixRisk(seed uint64, n, p, d int, l2 float64) *BlockProblem {
	normals := vec.NewNormals(vec.Key("matrix risk", seed, 0))
	draw := make([]float32, d*d)
	a := &symmetricBlocks{n: n, d: d, values: make([]float32, 0, n*p*d*(d+1)/2)}
	b := &BlockProblem{A: a}
	for range n {
		trace := 0.0
		for range p {
			normals.Fill(draw)
			for k := range d {
				trace += float64(draw[k*d+k])
				for l := range k + 1 {
					a.values = append(a.values, (draw[k*d+l]+draw[l*d+k])/2)
				}
			}
		}
		label := -1.0
		if trace > 0 {
			label = 1
		}
		b.Losses = append(b.Losses, Sum{SmoothHinge{}, []float64{label}})
	}
	for j := range p {
		a.all = append(a.all, j)
		b.Regularizers = append(b.Regularizers, Semidefinite{Dim: d, L2: l2})
	}
	return b
}

// symmetricBlocks has a symmetric d x d matrix for each row and block, of which
// values are the lower triangles. What it is multiplied with is symmetric too.
type symmetricBlocks struct {
	n, d   int
	values []float32
	all    []int
}

func (a *symmetricBlocks) Dims() (rows, blocks int) { return a.n, len(a.all) }
func (a *symmetricBlocks) Width(int) int            { return a.d * a.d }
func (a *symmetricBlocks) Blocks(int) []int         { return a.all }

func (a *symmetricBlocks) triangle(i, j int) []float32 {
	size := a.d * (a.d + 1) / 2
	return a.values[(i*len(a.all)+j)*size:][:size]
}

func (a *symmetricBlocks) Dot(i, j int, x []float64) float64 {
	t := a.triangle(i, j)
	var diagonal, s0, s1, s2, s3 float64
	for k := range a.d {
		row, v := x[k*a.d:k*a.d+k], t[:k]
		for len(row) >= 4 {
			s0 += float64(row[0] * float64(v[0]))
			s1 += float64(row[1] * float64(v[1]))
			s2 += float64(row[2] * float64(v[2]))
			s3 += float64(row[3] * float64(v[3]))
			row, v = row[4:], v[4:]
		}
		for l, w := range row {
			s0 += float64(w * float64(v[l]))
		}
		diagonal += float64(x[k*a.d+k] * float64(t[k]))
		t = t[k+1:]
	}
	return diagonal + 2*((s0+s2)+(s1+s3))
}

func (a *symmetricBlocks) Add(dst []float64, i, j int, s float64) {
	t := a.triangle(i, j)
	for k := range a.d {
		for l, v := range t[:k] {
			w := float64(s * float64(v))
			dst[k*a.d+l] += w
			dst[l*a.d+k] += w
		}
		dst[k*a.d+k] += float64(s * float64(t[k]))
		t = t[k+1:]
	}
}
