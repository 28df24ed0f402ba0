package setup

import (
	"bytes"
	"fmt"
	"os"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
)

// Passed returns what predictions have from their inputs.
func Passed(c *config.Config) (record.Passed, error) {
	redact, err := Redaction(c)
	return record.Passed{Fields: c.Output.Fields, TraceOnly: c.Output.Headers == "trace", Redact: redact}, err
}

// fewestKeyBytes is the length of output.redact_key_file below which a key could be guessed.
const fewestKeyBytes = 16

// Redaction returns what is left out of what is written and displayed of records; nil for
// nothing.
func Redaction(c *config.Config) (*record.Redaction, error) {
	var key []byte
	if file := c.Output.RedactKey; file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, c.At("output.redact_key_file", err)
		}
		key, _, _ = bytes.Cut(b, []byte("\n"))
		if key = bytes.TrimSpace(key); len(key) < fewestKeyBytes {
			return nil, c.At("output.redact_key_file", fmt.Errorf("the first line of %s has %d bytes, want at least %d", file, len(key), fewestKeyBytes))
		}
	}
	return record.NewRedaction(c.Output.Redact, key)
}
