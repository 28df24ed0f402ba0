package learner

// Cap is the maximum number of random features of a model, and what happens there.
type Cap struct {
	MaxFeatures int    `json:"max_features"` // in whole blocks
	AtCap       string `json:"at_cap"`       // "revisit": steps in existing blocks, "all": in all at once, "stop": none, "fixed": the model has all features from the start
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
