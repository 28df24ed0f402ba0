package learner

import "fmt"

// algorithms is the registry. Algorithms are a row here and a package that has
// the row's value, and nothing else names them.
var algorithms = append(descents(), newtonRow, eigenproRow, ridgeRow)

func parseAlgorithm(s string) (*algorithm, error) {
	for i := range algorithms {
		if algorithms[i].name == s {
			return &algorithms[i], nil
		}
	}
	return nil, fmt.Errorf("no algorithm is named %q", s)
}
