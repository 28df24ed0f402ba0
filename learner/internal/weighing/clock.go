package weighing

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

const (
	// agreeing is the number by which rows that are ahead of the clock by more than a half-life
	// have to outnumber the others to put it forward. A single record with a wrong time does not
	// suffice, nor do the records of one producer among others.
	agreeing = 8

	// mostAge bounds ages, in half-lives: older rows count as much as rows of this age,
	// 1/1,048,576.
	mostAge = 20

	// maxSeconds bounds times and half-lives.
	maxSeconds = 1e13

	// maxRows bounds the rows in a state that is read. A model that succeeds another takes over its
	// clock, which may therefore have counted more rows than the model has learned.
	maxRows = 1 << 53
)

// Bounds of a half-life, in seconds.
const (
	LeastHalfLife = 1e-3
	MostHalfLife  = 1e12
)

// Clock follows the event time of a stream: the latest time of its rows, with or without labels. It
// never goes back. A time that is ahead of the clock by more than a half-life is not believed at
// once. Only when such rows outnumber the others by agreeing does the clock advance, to the
// earliest of these times. The count starts again whenever these rows cease to outnumber the
// others.
type Clock struct {
	halfLife float64 // seconds

	now    float64 // seconds since 1970; undefined unless began
	began  bool
	ahead  float64 // earliest time of the rows that are ahead
	run    int64   // number by which they outnumber the others
	rows   int64
	timed  int64   // number of rows with a time
	weight float64 // sum of the weights of these rows
}

// Ages are the counts and the weights of the rows that a Clock has seen.
type Ages struct {
	Now     float64 // event time, in seconds since 1970; NaN before it is known
	Rows    int64   // rows with a label and a time
	Untimed int64   // rows with a label but without a time, which count fully
	Sum     float64 // sum of the weights of the rows with a time
}

// Ages returns the counts and weights so far.
func (c *Clock) Ages() Ages {
	a := Ages{Now: math.NaN(), Rows: c.timed, Untimed: c.rows - c.timed, Sum: c.weight}
	if c.began {
		a.Now = c.now
	}
	return a
}

// Mean returns the mean weight of the rows with a time; 1 before the first.
func (a Ages) Mean() float64 {
	if a.Rows == 0 {
		return 1
	}
	return a.Sum / float64(a.Rows)
}

// See puts the clock forward to the time of a row, in seconds since 1970. The time is NaN if the
// row has none.
func (c *Clock) See(time float64) {
	if !(math.Abs(time) <= maxSeconds) {
		return
	}
	if c.began && time <= c.now+c.halfLife {
		c.now, c.run = max(c.now, time), max(0, c.run-1)
		return
	}
	if c.run == 0 || time < c.ahead {
		c.ahead = time
	}
	if c.run++; c.run == agreeing {
		c.now, c.began, c.run = c.ahead, true, 0
	}
}

// Weight returns the weight of a row with a label and the given time, as of now: 1, halved with
// each half-life of its age.
func (c *Clock) Weight(time float64) float64 {
	c.rows++
	if !(math.Abs(time) <= maxSeconds) {
		return 1
	}
	weight := 1.0
	if c.began && time < c.now {
		weight = vec.Exp(-math.Ln2 * min(mostAge, (c.now-time)/c.halfLife))
	}
	c.timed++
	c.weight += weight
	return weight
}

func (c *Clock) save(a *state.Arrays) {
	began := int64(0)
	if c.began {
		began = 1
	}
	state.Put(a, "age", 3, []float64{c.now, c.ahead, c.weight})
	state.Put(a, "age.rows", 4, []int64{began, c.run, c.rows, c.timed})
}

func (c *Clock) load(s *state.Reader) {
	of := state.Take[float64](s, "age", 1, 3)
	rows := state.Take[int64](s, "age.rows", 1, 4)
	if s.Err != nil {
		return
	}
	c.now, c.ahead, c.weight = of[0], of[1], of[2]
	c.began, c.run, c.rows, c.timed = rows[0] == 1, rows[1], rows[2], rows[3]
	s.Require(math.Abs(c.now) <= maxSeconds && math.Abs(c.ahead) <= maxSeconds, "age: a time is %v or %v", c.now, c.ahead)
	s.Require(rows[0]>>1 == 0 && c.run >= 0 && c.run < agreeing, "age.rows: %d rows are ahead", c.run)
	s.Require(c.timed >= 0 && c.rows >= c.timed && c.rows <= maxRows && c.weight >= 0 && c.weight <= float64(c.timed), "age.rows: %d of %d have a time, and the weight %v", c.timed, c.rows, c.weight)
}
