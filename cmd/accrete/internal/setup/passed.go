package setup

import (
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
)

// Passed returns what predictions have from their inputs.
func Passed(c *config.Config) record.Passed {
	return record.Passed{Fields: c.Output.Fields, TraceOnly: c.Output.Headers == "trace"}
}
