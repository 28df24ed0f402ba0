package refit

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// MatrixRisk returns the problem that Yu, Lin and Yang (2015, section 6.2) draw at
// random: n rows of p matrices d x d, the smooth hinge, and the labels that
// identity matrices give to the rows. Of a matrix only the symmetric part matters,
// and only its Triangle is kept, in 2npd² bytes.
func MatrixRisk(seed uint64, n, p, d int, l2 float64) *BlockProblem {
	normals := vec.NewNormals(vec.Key("matrix risk", seed, 0))
	draw := make([]float32, d*d)
	a := &triangles{n: n, size: d * (d + 1) / 2, values: make([]float32, 0, n*p*d*(d+1)/2)}
	b := &BlockProblem{A: a}
	for range n {
		trace := 0.0
		for range p {
			normals.Fill(draw)
			for k := range d {
				for l := range k {
					a.values = append(a.values, (draw[k*d+l]+draw[l*d+k])/math.Sqrt2)
				}
				trace += float64(draw[k*d+k])
				a.values = append(a.values, draw[k*d+k])
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
		b.Regularizers = append(b.Regularizers, Triangle{Dim: d, L2: l2})
	}
	return b
}

// triangles has one, of so many numbers, for each row and block.
type triangles struct {
	n, size int
	values  []float32
	all     []int
}

func (a *triangles) Dims() (rows, blocks int) { return a.n, len(a.all) }
func (a *triangles) Width(int) int            { return a.size }
func (a *triangles) Blocks(int) []int         { return a.all }

func (a *triangles) at(i, j int) []float32 { return a.values[(i*len(a.all)+j)*a.size:][:a.size] }

func (a *triangles) Dot(i, j int, x []float64) float64 { return dot(a.at(i, j), x) }

func (a *triangles) Add(dst []float64, i, j int, s float64) {
	dst = dst[:a.size]
	for k, v := range a.at(i, j) {
		dst[k] += float64(s * float64(v))
	}
}
