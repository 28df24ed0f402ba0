package learner

import "github.com/accrete-ml/accrete/learner/internal/state"

// Cap is the maximum number of random features of a model, and what happens there.
type Cap struct {
	MaxFeatures int    `json:"max_features"` // in whole blocks
	AtCap       string `json:"at_cap"`       // "revisit": steps in existing blocks, "all": in all at once, "stop": none, "fixed": the model has all features from the start
}

// ServedFeatures returns the number of random features of the model with these serving
// arrays.
func ServedFeatures(serving []Array) (int, error) {
	s := &state.Reader{In: serving}
	v := loadServing(s)
	return v.Blocks * v.config.BlockSize, s.End()
}

// Does says what a model with its maximum of features does; "" of the empty Cap.
func (c Cap) Does() string {
	return map[string]string{
		"revisit": "steps in existing blocks",
		"all":     "steps in all blocks",
		"stop":    "no more steps",
		"fixed":   "all features from the start",
	}[c.AtCap]
}

// Cap returns that of the models of c. An invalid c has none.
func (c Config) Cap() Cap {
	c, err := c.Effective()
	if err != nil {
		return Cap{}
	}
	a, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return Cap{}
	}
	o := c.options()
	of := Cap{o.MaxBlocks() * c.BlockSize, "revisit"}
	switch {
	case a.FixedBlocks != nil:
		of = Cap{a.FixedBlocks(o) * c.BlockSize, "fixed"}
	case a.Descent != nil:
		of.AtCap = a.Descent.AtCap(o)
	}
	return of
}
