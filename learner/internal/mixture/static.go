package mixture

import (
	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// Static is the mixture of a scorer, which sees no labels: a sum of scores with constant
// shares, and so one set of coefficients. Its zero value is the engine alone.
type Static struct {
	Engine []float64 // share of the engine in each score
	Linear []float32 // coefficients, scores × (inputs + 1); the last one is the intercept

	// Factor multiplies the scores of classes, see type factor. It is 1 for numbers and in a
	// combination. Engine, Linear, Coef and Sparse contain it already.
	Factor float64

	// Coef are coefficients of the random features that the machines have in common, each
	// times the share of its machine: 2 rows for each random feature × scores.
	Coef []float32

	// Sparse is the share of the sparse member in each score. SparseCoef are the coefficients of
	// this member, slots × scores; in a learner they are its own memory. Both are nil without a
	// sparse member.
	Sparse     []float64
	SparseCoef []float32

	// Limits bound each score of a regression: limitFields of each. nil for classes.
	Limits []float64

	// Range has, of each input, the least and the greatest value that random features see, and the
	// least and the greatest value up to which the input still moves the scores: 4 × inputs. Slopes
	// are by how much it moves them for each unit that it is beyond the former, scores × inputs; they
	// contain the shares. Both are nil in a mixture that does not extrapolate.
	Range, Slopes []float32

	// Early is the scaler of the rows before the first fit, nil after it.
	Early *warmup.Scaler
}

// limitFields are the columns of Static.Limits.
const (
	limitLinearLow  = iota // what the linear members and the intercepts add
	limitLinearHigh        //
	limitLow               // the score
	limitHigh              //
	limitFields
)

// Blocks returns the number of blocks of random features for which s has coefficients, given the
// size of a block.
func (s *Static) Blocks(blockSize int) int {
	return len(s.Coef) / max(1, 2*blockSize*len(s.Engine))
}

// Apply turns the scores f of the engine for rows x into those of the mixture. within are the rows
// that the engine has seen: see Within. features has the sums over the random features with the
// coefficients Coef, rows × scores, and of returns the sparse part of a row.
func (s *Static) Apply(f []float64, x, within []float32, features []float64, of func(i int) sparse.Row) {
	k := len(s.Engine)
	if k == 0 {
		return
	}
	n := len(s.Linear) / k
	var sparseSums []float64
	if s.Sparse != nil {
		sparseSums = make([]float64, k)
	}
	for i := range len(f) / k {
		row, scores, sums := x[i*(n-1):(i+1)*(n-1)], f[i*k:(i+1)*k], [together]float64{}
		for c, share := range s.Engine {
			if c%together == 0 {
				sums = s.linear(c, row)
			}
			sum := sums[c%together]
			if s.Limits != nil {
				of := s.Limits[c*limitFields:]
				sum = max(of[limitLinearLow], min(of[limitLinearHigh], sum))
			}
			scores[c] = float64(share*scores[c]) + sum + features[i*k+c]
		}
		if s.Range != nil {
			s.addBeyond(scores, row, within[i*(n-1):(i+1)*(n-1)])
		}
		for c := range len(s.Limits) / limitFields {
			of := s.Limits[c*limitFields:]
			scores[c] = max(of[limitLow], min(of[limitHigh], scores[c]))
		}
		if s.Sparse != nil {
			s.addSparse(scores, of(i), sparseSums)
		}
	}
}

// together is the number of scores that linear computes side by side. Each is a sum in order, so that
// an addition has to wait for the previous one of the same score, but not for those of the others.
const together = 4

// linear returns what the linear members add to the scores from c on, or to those that are left.
func (s *Static) linear(c int, row []float32) (sums [together]float64) {
	n := len(row) + 1
	w := s.Linear[c*n:]
	if len(w) < together*n {
		for i := range len(w) / n {
			sum := float64(w[i*n+n-1])
			for j, v := range row {
				sum += float64(float64(w[i*n+j]) * float64(v))
			}
			sums[i] = sum
		}
		return sums
	}
	w0, w1, w2, w3 := w[:n], w[n:2*n], w[2*n:3*n], w[3*n:4*n]
	s0, s1, s2, s3 := float64(w0[n-1]), float64(w1[n-1]), float64(w2[n-1]), float64(w3[n-1])
	for j, v := range row {
		x := float64(v)
		s0 += float64(float64(w0[j]) * x)
		s1 += float64(float64(w1[j]) * x)
		s2 += float64(float64(w2[j]) * x)
		s3 += float64(float64(w3[j]) * x)
	}
	return [together]float64{s0, s1, s2, s3}
}

// addSparse adds the scores of the sparse member to f, without its intercept. sums is memory for as
// many scores.
func (s *Static) addSparse(f []float64, x sparse.Row, sums []float64) {
	clear(sums)
	member.AddSparse(sums, x, s.SparseCoef)
	for c, share := range s.Sparse {
		f[c] += float64(share * sums[c])
	}
}
