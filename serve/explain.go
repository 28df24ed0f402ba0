package serve

import "github.com/accrete-ml/accrete/learner"

// Explain returns explanations of the predictions for all rows of b: see
// learner.Model.Explain. It is safe for concurrent use.
func (s *Served) Explain(b *learner.Batch) ([]learner.Explanation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model.Explain(b)
}
