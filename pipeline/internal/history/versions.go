package history

import (
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Versions are those of this program. Tests change them.
var Versions = modellog.Versions{Arithmetic: learner.Arithmetic, Decoder: decode.Version}
