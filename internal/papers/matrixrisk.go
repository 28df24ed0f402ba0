package papers

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// matrixRisk draws the problem of section 6.2: n rows of p matrices d x d, the
// smoothed hinge, and classes given by the sum of the traces. Only the
// symmetric part of a matrix matters, and only its triangle is stored, in 2npd²
// bytes.
func matrixRisk(seed uint64, n, p, d int, l2 float64) *optim.BlockProblem {
	normals := vec.NewNormals(vec.Key("matrix risk", seed, 0))
	draw := make([]float32, d*d)
	size := d * (d + 1) / 2
	values := make([]float32, 0, n*p*size)
	b := new(optim.BlockProblem)
	for range n {
		trace := 0.0
		for range p {
			normals.Fill(draw)
			for k := range d {
				for l := range k {
					values = append(values, (draw[k*d+l]+draw[l*d+k])/math.Sqrt2)
				}
				trace += float64(draw[k*d+k])
				values = append(values, draw[k*d+k])
			}
		}
		class := 0.0
		if trace > 0 {
			class = 1
		}
		b.Losses = append(b.Losses, optim.Sum{Loss: loss.SmoothedHinge{}, Targets: []float64{class}})
	}
	all := make([]int, p)
	for j := range p {
		all[j] = j
		b.Regularizers = append(b.Regularizers, optim.Triangle{Dim: d, L2: l2})
	}
	b.A = &triangles{matrix.NewFloat32(n*p, size, values, 1), all}
	return b
}

// triangles is a BlockMatrix in which each row has a triangle in every block.
// The triangles are stored as the rows of one matrix.
type triangles struct {
	rows *matrix.Float32
	all  []int // blocks
}

func (a *triangles) Dims() (rows, blocks int) {
	n, _ := a.rows.Dims()
	return n / len(a.all), len(a.all)
}

func (a *triangles) Width(int) int {
	_, size := a.rows.Dims()
	return size
}

func (a *triangles) Blocks(int) []int { return a.all }

func (a *triangles) Dot(i, j int, x []float64) float64 { return a.rows.Dot(i*len(a.all)+j, x) }

func (a *triangles) Add(dst []float64, i, j int, s float64) { a.rows.Add(dst, i*len(a.all)+j, s) }
