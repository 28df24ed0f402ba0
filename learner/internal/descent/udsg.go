package descent

// UDSG adds a block in New of every New+Old steps. In the others, and in all steps once the model
// has its maximum number of blocks, it takes a step in an existing block, drawn at random (Li and
// Póczos 2016, algorithm 3).
type UDSG struct{ New, Old int64 }

func (u UDSG) Choose(s *Situation) (from, to int, rate float64) {
	if s.Blocks == 0 || s.Blocks < s.MaxBlocks && (s.Step-1)%(u.New+u.Old) < u.New {
		return s.Blocks, s.Blocks + 1, s.Rate
	}
	if s.Blocks == s.MaxBlocks {
		return s.atCap(anyBlock, s.Rate)
	}
	k := s.random()
	return k, k + 1, s.Rate
}

func (UDSG) String() string { return "udsg" }

// Help implements Rule.
func (UDSG) Help() string {
	return "dsg with steps in existing blocks as well, drawn at random (Li and Póczos 2016)"
}
