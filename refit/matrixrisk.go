package refit

import "github.com/accrete-ml/accrete/internal/vec"

// MatrixRisk returns the problem that Yu, Lin and Yang (2015, section 6.2) draw at
// random: n rows of p symmetric d x d matrices, of which only the symmetric parts
// matter, with the smooth hinge and the labels that identity matrices give.
func MatrixRisk(seed uint64, n, p, d int, l2 float64) *BlockProblem {
	normals := vec.NewNormals(vec.Key("matrix risk", seed, 0))
	rows, draw := make([]float64, n*p*d*d), make([]float32, d*d)
	b := &BlockProblem{}
	for i := range n {
		trace := 0.0
		for j := range p {
			normals.Fill(draw)
			block := rows[(i*p+j)*d*d:][: d*d : d*d]
			for k := range d {
				trace += float64(draw[k*d+k])
				for l := range d {
					block[k*d+l] = (float64(draw[k*d+l]) + float64(draw[l*d+k])) / 2
				}
			}
		}
		label := -1.0
		if trace > 0 {
			label = 1
		}
		b.Losses = append(b.Losses, Sum{SmoothHinge{}, []float64{label}})
	}
	widths := make([]int, p)
	for j := range p {
		widths[j] = d * d
		b.Regularizers = append(b.Regularizers, Semidefinite{Dim: d, L2: l2})
	}
	b.A = NewColumns(NewDense(n, p*d*d, rows), widths...)
	return b
}
