package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
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

// setStatic sets the mixture of a scorer from the current weights and members.
func (m *Mixture) setStatic(h *target.Head) {
	m.Static = Static{}
	if h.Task == target.Classification && h.Classes < 2 {
		return
	}
	k, n := h.Scores(), len(m.factors)+1
	if m.factors == nil {
		if m.scaler == nil || h.Task == target.Classification || m.sparse != nil {
			return
		}
		m.Static.Early, n = m.scaler, len(m.scaler.Center)+1
	}
	m.setSteady(h)
	m.staticAwake = m.staticAwake[:0]
	for _, e := range m.static {
		m.staticAwake = append(m.staticAwake, e == 0 || m.members[e-1].(member.Static).Ready())
	}
	m.Static.Factor = 1
	if len(m.factor) > 0 {
		m.Static.Factor = m.factor[0]
	}
	m.Static.Engine, m.Static.Linear = make([]float64, k), make([]float32, k*n)
	if m.sparse != nil {
		m.Static.Sparse, m.Static.SparseCoef = make([]float64, k), m.sparse.Coef
	}
	all, sum := make([]float64, k*len(m.static)), make([]float64, n) // scores × static experts
	for c := range k {
		shares := all[c*len(m.static) : (c+1)*len(m.static)]
		m.now.served[c*m.targets/k].Mix(shares, m.staticAwake)
		keepEngine(shares, m.engineFloor(m.now, c*m.targets/k))
		scale(shares, m.Static.Factor)
		added := m.combine(shares, c*m.targets/k)
		clear(sum)
		var linear [2]float64 // sums of the shares that are negative, and of the others
		intercept := 0.0      // what machines add
		curved := shares[0]   // of the engine and the machines together
		for i, e := range m.static {
			if e == 0 || !m.staticAwake[i] {
				continue
			}
			switch o := m.members[e-1].(type) {
			case member.Affine:
				o.AddTo(sum, c, shares[i], h)
				if shares[i] < 0 {
					linear[0] += shares[i]
				} else {
					linear[1] += shares[i]
				}
			case member.Machine:
				sum[n-1] += float64(shares[i] * o.Intercept(c))
				intercept += float64(shares[i] * o.Intercept(c))
				curved += shares[i]
			case *member.Sparse:
				sum[n-1] += float64(shares[i] * o.Intercept(c))
				m.Static.Sparse[c] = shares[i]
			}
		}
		if h.Task == target.Regression && m.combines {
			intercept += m.intercept(h.Scales[c], shares, added)
			sum[n-1] += m.intercept(h.Scales[c], shares, added)
		}
		m.Static.Engine[c] = shares[0]
		m.setRange(c, curved)
		for i, v := range sum {
			m.Static.Linear[c*n+i] = float32(v)
		}
		if h.Task == target.Regression {
			m.addLimits(h, c, linear, intercept)
		}
	}
	m.mixMachines(all, k)
}

// addLimits adds the limits of score c, in which the linear members have shares, see setStatic, and
// there is an intercept beside them.
func (m *Mixture) addLimits(h *target.Head, c int, linear [2]float64, intercept float64) {
	lo, hi := m.now.bounds[c].limits()
	u := h.Scales[c]
	lo, hi = (lo-u.Mean)/u.Deviation, (hi-u.Mean)/u.Deviation
	m.Static.Limits = append(m.Static.Limits, float64(linear[1]*lo)+float64(linear[0]*hi)+intercept, float64(linear[1]*hi)+float64(linear[0]*lo)+intercept, lo, hi)
}

// mixMachines sets the coefficients of the random features, given the shares of all experts
// in each score.
func (m *Mixture) mixMachines(shares []float64, k int) {
	m.features = m.features[:0]
	of := make([]float64, k) // shares of a machine
	for i, e := range m.static {
		if e == 0 || !m.staticAwake[i] {
			continue
		}
		if o, ok := m.members[e-1].(member.Machine); ok {
			for c := range of {
				of[c] = shares[c*len(m.static)+i]
			}
			m.features = o.AddServed(m.features, of)
		}
	}
	m.Static.Coef = make([]float32, len(m.features))
	for j, v := range m.features {
		m.Static.Coef[j] = float32(v)
	}
}

// leastEngine is the least share of the engine in the mixture of a scorer. After an abrupt change
// the engine is confident but wrong, and loses its weight. This lowers the loss of the mixture. But
// once the engine has learned again, the mixture would decide for the wrong class more often than
// the engine does. Chosen by trial.
const leastEngine = 0.25

// worseEngine is the largest squared error of the engine, as a multiple of that of the best member,
// at which the engine still has leastEngine in full. Chosen by trial.
const worseEngine = 4

// engineFloor returns the least share of the engine in target j after the rows r. It is 0 if the
// rows have a sparse part, so that the engine sees little of the inputs, or if there is no fit yet.
// In a regression it is lower if the engine predicts far worse than another member, as in a trend:
// there is no decision that could be right in spite of a wrong number.
func (m *Mixture) engineFloor(r *rows, j int) float64 {
	if m.sparse != nil || m.factors == nil {
		return 0
	}
	if m.task == target.Classification {
		return leastEngine
	}
	squares := r.squares[j*m.experts : (j+1)*m.experts]
	least := squares[0]
	for _, e := range m.static {
		least = min(least, squares[e])
	}
	if worseEngine*least >= squares[0] {
		return leastEngine
	}
	return leastEngine * worseEngine * (least / squares[0])
}

// keepEngine turns weights into shares, of which the engine has at least floor.
func keepEngine(shares []float64, floor float64) {
	for i, v := range shares {
		shares[i] = float64((1 - floor) * v)
	}
	shares[0] += floor
}

// Save adds the arrays of the serving part.
func (s *Static) Save(a *state.Arrays) {
	k := max(1, len(s.Engine))
	if s.Early != nil {
		state.Put(a, "mixture.scaler", len(s.Early.Center), slices.Concat(s.Early.Center, s.Early.Scale))
	}
	state.Put(a, "mixture.engine", k, s.Engine)
	state.Put(a, "mixture.linear", max(1, len(s.Linear)/k), s.Linear)
	state.Put(a, "mixture.coefficients", k, s.Coef)
	if len(s.Engine) > 0 && s.Factor != 1 {
		state.Put(a, "mixture.factor", 1, []float64{s.Factor})
	}
	if s.Sparse != nil {
		state.Put(a, "sparse.shares", k, s.Sparse)
		state.Put(a, "sparse.coefficients", k, s.SparseCoef)
	}
	if s.Limits != nil {
		state.Put(a, "mixture.limits", limitFields, s.Limits)
	}
	s.saveRange(a)
}

// loadScaler reads the scaler of the rows before the first fit, of dim raw values, if it is there.
func (s *Static) loadScaler(from *state.Reader, dim int) {
	if from.In[0].Name != "mixture.scaler" {
		return
	}
	of := state.Take[float64](from, "mixture.scaler", 2, dim)
	if from.Err != nil {
		return
	}
	s.Early = &warmup.Scaler{Center: of[:dim:dim], Scale: of[dim:], ColumnWeights: warmup.Ones(dim)}
	for i, v := range s.Early.Scale {
		from.Require(v >= 0 && math.Abs(of[i]) <= target.MaxMagnitude, "mixture.scaler: a column has the centre %v and the scale %v", of[i], v)
	}
}

// loadLimits reads the limits of that many scores, if they are there.
func (s *Static) loadLimits(from *state.Reader, scores int) {
	if from.Err != nil || len(from.In) == 0 || from.In[0].Name != "mixture.limits" {
		return
	}
	s.Limits = state.Take[float64](from, "mixture.limits", scores, limitFields)
	for i := 1; i < len(s.Limits); i += 2 {
		from.Require(s.Limits[i-1] <= s.Limits[i], "mixture.limits: from %v to %v", s.Limits[i-1], s.Limits[i])
	}
}

// loadSparse reads the coefficients of the sparse member, if there are any, for that many
// scores.
func (s *Static) loadSparse(from *state.Reader, scores int) {
	if from.Err != nil || len(from.In) == 0 || from.In[0].Name != "sparse.shares" {
		return
	}
	s.Sparse = state.Take[float64](from, "sparse.shares", 1, scores)
	s.SparseCoef = state.Take[float32](from, "sparse.coefficients", state.AnySize, scores)
	if from.Err != nil {
		return
	}
	slots := len(s.SparseCoef) / scores
	from.Require(slots > 0 && slots&(slots-1) == 0, "sparse.coefficients: %d slots, want a power of 2", slots)
	for _, v := range s.Sparse {
		from.Require(s.isShare(v), "sparse.shares: a share is %v", v)
	}
	for _, v := range s.SparseCoef {
		from.Require(math.Abs(float64(v)) < mostStatic, "sparse.coefficients: a coefficient is %v", v)
	}
}

// isShare reports whether v may be the share of an expert, which in a combination may be negative.
func (s *Static) isShare(v float64) bool {
	return v >= 0 && v <= 1.001*s.Factor || s.Factor == 1 && math.Abs(v) <= mostShare
}

// mostStatic bounds a coefficient of a scorer's mixture, and mostBlocks the memory that a
// state can ask for.
const (
	mostStatic = 1e30
	mostBlocks = 1 << 12
)

// LoadStatic reads what Save wrote for a model with these numbers of scores, of inputs (0 before
// the first fit), of raw values in a row and of random features in a block. It returns nil if the
// next array is another one.
func LoadStatic(s *state.Reader, scores, inputs, raw, blockSize int) *Static {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "mixture.engine" && s.In[0].Name != "mixture.scaler" {
		return nil
	}
	m := &Static{}
	if m.loadScaler(s, raw); m.Early != nil {
		s.Require(inputs == 0, "mixture.scaler: there is a fit")
		inputs = raw
	}
	if s.Err != nil || len(s.In) == 0 {
		return m
	}
	if s.In[0].Shape[0] == 0 {
		state.Take[float64](s, "mixture.engine", 0, 1)
		state.Take[float32](s, "mixture.linear", 0, 1)
		state.Take[float32](s, "mixture.coefficients", 0, 1)
		return m
	}
	m.Engine = state.Take[float64](s, "mixture.engine", 1, scores)
	m.Linear = state.Take[float32](s, "mixture.linear", scores, inputs+1)
	m.Coef = state.Take[float32](s, "mixture.coefficients", state.AnySize, scores)
	m.loadFactor(s)
	m.loadSparse(s, scores)
	m.loadLimits(s, scores)
	m.loadRange(s, scores, inputs)
	if s.Err != nil {
		return m
	}
	size := 2 * blockSize * scores
	s.Require(len(m.Coef)%size == 0 && len(m.Coef)/size <= mostBlocks, "mixture.coefficients: %d of them", len(m.Coef))
	s.Require(len(m.Coef) == 0 || inputs > 0 && m.Early == nil, "mixture: random features without inputs")
	for _, v := range m.Engine {
		s.Require(m.isShare(v), "mixture.engine: a share is %v", v)
	}
	for _, v := range m.Linear {
		s.Require(math.Abs(float64(v)) < mostStatic, "mixture.linear: a coefficient is %v", v)
	}
	for _, v := range m.Coef {
		s.Require(math.Abs(float64(v)) < engine.MaxCoefficient, "mixture.coefficients: a coefficient is %v", v)
	}
	return m
}
