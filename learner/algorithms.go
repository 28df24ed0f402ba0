package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/eigenpro"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/newton"
	"github.com/accrete-ml/accrete/learner/internal/ridge"
)

// algorithms is the registry. Algorithms are a row here and a package that has
// the row's value, and nothing else names them.
var algorithms = append(descent.Algorithms(), newton.Algorithm, eigenpro.Algorithm, ridge.Algorithm)

func parseAlgorithm(s string) (*engine.Algorithm, error) {
	for i := range algorithms {
		if algorithms[i].Name == s {
			return &algorithms[i], nil
		}
	}
	return nil, fmt.Errorf("no algorithm is named %q", s)
}
