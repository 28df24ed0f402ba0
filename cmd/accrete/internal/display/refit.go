package display

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/refit"
)

// Refit is the certificate of a refitted model.
type Refit struct {
	Rows     int     `json:"rows"`
	Features int     `json:"features"` // number of cosines and sines
	Kept     int     `json:"kept"`     // number of them in random features that have not been removed
	Bytes    int     `json:"bytes"`    // size of the part of the model that predictions need
	Loss     string  `json:"loss"`
	Lambda   float64 `json:"lambda"`

	RelativeGap float64 `json:"relative_gap"` // relative to the objective of the zero model
	Gap         float64 `json:"gap"`          // upper bound of the objective minus the optimum
	Bound       float64 `json:"bound"`        // upper bound of the difference of a score from the optimal model's
	Reached     bool    `json:"reached"`      // whether --tolerance was reached

	// Suboptimality bounds how far the objective of the previous model, with
	// its own loss, was above the optimum. The bound is loose where Loss is
	// another loss.
	Suboptimality float64 `json:"suboptimality"`
	comparable    bool
	mixed         bool

	// Alone means that the refitted model is the algorithm without the mixture of the previous
	// model, because its loss is another one.
	Alone bool `json:"alone"`

	Passes  float64 `json:"passes"`  // 0 with Direct
	Direct  bool    `json:"direct"`  // solved by the normal equations
	Seconds float64 `json:"seconds"` // including the random features and the choice of lambda
	Test    *Figure `json:"test"`    // null without a test file
}

// NewRefit returns the report of a refit that took the given time.
func NewRefit(r *refit.Result, seconds float64) *Refit {
	f := r.Fit
	return &Refit{
		Rows: r.Rows, Features: r.Features, Kept: r.Kept, Bytes: servingBytes(r.Model), Loss: r.Loss, Lambda: r.Lambda,
		RelativeGap: f.Relative, Gap: f.Gap(), Bound: f.Bound, Reached: f.Reached,
		Passes: f.Passes, Direct: f.Direct, Seconds: seconds,
		Suboptimality: r.Suboptimality, comparable: r.Comparable, Alone: r.Alone, mixed: r.Model.Mixed(),
	}
}

// servingBytes returns the size of the serving arrays of m.
func servingBytes(m *learner.Model) (n int) {
	for _, a := range m.Serving() {
		n += binary.Size(a.Data)
	}
	return n
}

func (r *Refit) String() string {
	var b strings.Builder
	b.WriteString("refit        ")
	if r.Test != nil {
		fmt.Fprintf(&b, "test %v, ", *r.Test)
	}
	fmt.Fprintf(&b, "within %.2g of the optimum on %s rows (relative gap %.1e, scores off by at most %.2g)\n", r.Gap, Thousands(int64(r.Rows)), r.RelativeGap, r.Bound)
	by := "by the same certificate"
	if !r.comparable {
		by = "with its own loss, by its own certificate, which is loose"
	}
	fmt.Fprintf(&b, "             the one-pass model within %.2g, %s\n", r.Suboptimality, by)
	switch {
	case r.Alone:
		b.WriteString("             of the algorithm alone, without the mixture, because the loss is another one\n")
	case r.mixed:
		b.WriteString("             both of the algorithm in the mixture; the other members and their shares stay\n")
	}
	how := fmt.Sprintf("%.0f passes", r.Passes)
	if r.Direct {
		how = "normal equations"
	}
	fmt.Fprintf(&b, "             %s loss, lambda %.1g, %s, %.2f s\n", r.Loss, r.Lambda, how, r.Seconds)
	if r.Kept < r.Features {
		fmt.Fprintf(&b, "             %s of %s random features left, %s bytes to predict with\n", Thousands(int64(r.Kept/2)), Thousands(int64(r.Features/2)), Thousands(int64(r.Bytes)))
	}
	return b.String()
}
