package learner

import "fmt"

// A Rule decides which blocks a step changes. It is what tells the algorithms
// of this package apart.
type Rule interface {
	// Blocks returns the range [from, to) of the blocks that step t changes,
	// which is not empty. The model has n blocks and may have most; where
	// to is n+1, block n is new.
	Blocks(t int64, n, most int) (from, to int)

	// String names the rule in the form that ParseRule reads.
	String() string
}

// Rules is every rule there is.
var Rules = []Rule{DSG{}}

// ParseRule reads the form that String writes.
func ParseRule(s string) (Rule, error) {
	for _, r := range Rules {
		if r.String() == s {
			return r, nil
		}
	}
	return nil, fmt.Errorf("no algorithm is named %q", s)
}
