package setup

import (
	"bytes"
	"fmt"
	"os"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
)

// Passed returns what predictions take over from the records that they are made for.
func Passed(c *config.Config) (record.Passed, error) {
	redact, err := Redaction(c)
	return record.Passed{Fields: c.Output.Fields, TraceOnly: c.Output.Headers == "trace", Redact: redact}, err
}

// fewestKeyBytes is the minimum length of a key in output.redact_key_file. A shorter key could be
// guessed.
const fewestKeyBytes = 16

// Redaction returns the rule for what is left out when parts of records are written or displayed;
// nil if nothing is.
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
