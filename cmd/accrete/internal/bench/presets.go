package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/papers/dsg"
)

// preset is a data set of the papers that users supply as files.
type preset struct {
	files string       // names in LIBSVM's collection: a training file and, in some cases, a test file
	steps dsg.Settings // of DSG, UDSG and CDSG, as the papers have them

	// of and against are the classes that --paper dsg tells apart. If they are empty, it takes the
	// most frequent class and the others.
	of, against string
}

// presets are the sets by name. The steps are those of table 2 and section 5.2 of Li and
// Póczos (2016).
var presets = map[string]preset{
	"a9a":               {files: "a9a and a9a.t"},
	"covtype":           {files: "covtype.libsvm.binary.scale"},
	"mnist8m":           {files: "mnist8m.scale", steps: dsg.Settings{Minibatch: 20000, BlockSize: 4096, Lambda: 1e-6}, of: "8", against: "6"},
	"cifar10":           {files: "cifar10 and cifar10.t", steps: dsg.Settings{Minibatch: 4096, BlockSize: 256, Lambda: 1e-5}},
	"epsilon":           {files: "epsilon_normalized and epsilon_normalized.t", steps: dsg.Settings{Minibatch: 10000, BlockSize: 512, Lambda: 1e-5}},
	"YearPredictionMSD": {files: "YearPredictionMSD and YearPredictionMSD.t", steps: dsg.Settings{Minibatch: 10000, BlockSize: 512, Lambda: 1e-5}},
}

// missing returns the text of the error for a set that the folder does not have.
func (c *Command) missing(name string) string {
	text := fmt.Sprintf("%s has no data set %q", c.Dir, name)
	p, ok := presets[name]
	if !ok {
		return text + ": want NAME.train or NAME.stream with one of the endings " + strings.Join(endings, ", ")
	}
	train, test, both := strings.Cut(p.files, " and ")
	text += fmt.Sprintf(": download %s from the LIBSVM data sets and save it there as %s.train.libsvm", train, name)
	if both {
		text += fmt.Sprintf(", and %s as %s.test.libsvm", test, name)
	}
	return text
}

// presetNames returns the names of the presets, sorted.
func presetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// endings are the file name extensions of data sets.
var endings = []string{".csv", ".csv.gz", ".libsvm", ".libsvm.gz", ".jsonl", ".jsonl.gz", ".parquet", ".avro"}
