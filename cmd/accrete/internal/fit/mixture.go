package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/learner"
)

// mixtureReport says how much the members of a mixture contribute, and how well they predict.
type mixtureReport struct {
	Members []memberReport `json:"members"`
	Stacked float64        `json:"stacked"` // share of the stacks of the members in the prediction
	Error   float64        `json:"error"`   // progressive, counted as those of the members
	Scorer  float64        `json:"scorer"`  // of the mixture that scorers use

	// Outliers counts the rows that were not learned because their labels are far from all others.
	Outliers int64 `json:"outliers,omitempty"`

	weighted bool // Error is another one than that of the report
}

type memberReport struct {
	Name   string  `json:"name"`
	Rows   float64 `json:"rows"`          // share of the rows that it has predicted
	Weight float64 `json:"weight"`        // in the last predictions
	Scorer float64 `json:"scorer_weight"` // in the weighted mean of a scorer
	Error  float64 `json:"error"`         // progressive
	Loss   float64 `json:"loss"`
	Recent float64 `json:"recent_error"`
}

// newMixtureReport returns the report of a mixture that has the progressive error whole.
func newMixtureReport(s *learner.MixtureScores, whole float64) *mixtureReport {
	if s == nil {
		return nil
	}
	r := &mixtureReport{Stacked: s.Stacked, Error: s.Together.Whole.Error, Scorer: s.Scorer.Error, Outliers: s.Outliers}
	r.weighted = math.Abs(r.Error-whole) > 0.05*whole+0.005
	for _, m := range s.Members {
		r.Members = append(r.Members, memberReport{m.Name, m.Rows, m.Weight, m.Scorer, m.Whole.Error, m.Whole.Loss, m.Recent.Error})
	}
	return r
}

// leastShown is the weight below which a member is left out of the text.
const leastShown = 0.05

// leastRows is the share of the rows that a member has to have predicted to be compared.
const leastRows = 0.95

// text returns two lines: the members with their last weights, and, once they have predicted rows,
// the member with the lowest error on all rows. If there are outliers, a third line has their number.
func (r *mixtureReport) text() string {
	if r == nil || len(r.Members) == 0 {
		return ""
	}
	best := r.Members[0]
	for _, m := range r.Members {
		if m.Rows >= leastRows && m.Error < best.Error {
			best = m
		}
	}
	by := slices.Clone(r.Members)
	slices.SortStableFunc(by, func(a, b memberReport) int { return cmp.Compare(b.Weight, a.Weight) })
	var shown []string
	for _, m := range by {
		if m.Weight >= leastShown {
			shown = append(shown, fmt.Sprintf("%s %.2f", m.Name, m.Weight))
		}
	}
	if r.Stacked >= leastShown {
		shown = append(shown, fmt.Sprintf("stacked %.2f", r.Stacked))
	}
	text := fmt.Sprintf("mixture      %s\n", strings.Join(shown, ", "))
	if r.Members[0].Rows > 0 {
		text += fmt.Sprintf("             best member %s with %.4f, %s %.4f, for scorers %.4f", best.Name, best.Error, r.Members[0].Name, r.Members[0].Error, r.Scorer)
		if r.weighted {
			text += fmt.Sprintf(", all together %.4f (of rows of known classes, each with at most the mean weight)", r.Error)
		}
		text += "\n"
	}
	if r.Outliers > 0 {
		text += fmt.Sprintf("outliers     %s: labels far from all others, which are not learned\n", display.Thousands(r.Outliers))
	}
	return text
}
