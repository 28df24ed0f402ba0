package exit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/ingest/quarantine"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/metric"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Exit codes, from sysexits.h where it defines one.
const (
	Done    = 0
	Failed  = 1
	Misused = 2
	Later   = 75 // EX_TEMPFAIL
	Fenced  = 76 // EX_PROTOCOL, the nearest code: another learner has taken over the model
	Refused = 78 // EX_CONFIG
)

const Help = `Exit codes:
  0   success
  1   failure
  2   wrong usage
  75  temporary failure, try again (broker unreachable, or hung)
  76  fenced: another learner has claimed the model; do not restart, except with
      learn --standby
  78  invalid configuration or incompatible state`

// Exits maps errors to exit codes; the first match wins. Other errors exit with
// 75 if Kafka reports them as temporary, and with 1 otherwise.
var Exits = []struct {
	Is   error
	Code int
}{
	{config.ErrInvalid, Refused},
	{ingest.ErrUnreachable, Later},
	{ingest.ErrUnknownTopic, Refused},
	{ingest.ErrDenied, Refused},
	{ingest.ErrTooLarge, Refused},
	{ingest.ErrRejected, Refused},
	{pipeline.ErrFenced, Fenced}, // if restarted, it would take the model over again
	{pipeline.ErrHung, Later},
	{pipeline.ErrUndrained, Later},
	{pipeline.ErrHistory, Refused},
	{pipeline.ErrLog, Refused},
	{model.ErrVersion, Refused},
	{admin.ErrNowhere, Refused},
	{admin.ErrAdopt, Refused},
	{admin.ErrCopy, Refused},
	{model.ErrOptions, Refused},
	{model.ErrStart, Refused},
	{audit.ErrUnproved, Failed},
	{pipeline.ErrTopic, Refused},
	{enrich.ErrTopic, Refused},
	{enrich.ErrRenewed, Later},
	{record.ErrOutput, Refused},
	{quarantine.ErrCompacted, Refused},
	{quarantine.ErrFenced, Later},
	{pipeline.ErrGap, Refused},
	{pipeline.ErrPoisoned, Refused},
	{pipeline.ErrChanged, Refused},
	{learner.ErrLags, Refused},
	{refit.ErrUnfit, Refused},
	{learner.ErrInputs, Refused},
	{metric.ErrColumns, Refused},
	{snapshot.ErrTooNew, Refused},
	{snapshot.ErrCorrupt, Refused},
	{snapshot.ErrTruncated, Refused},
	{snapshot.ErrLimit, Refused},
	{snapshot.ErrMismatch, Refused},
	{modellog.ErrSignature, Refused},
}

// coded is an error with an explicit exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// Usage returns a command-line usage error.
func Usage(format string, args ...any) error { return coded{fmt.Errorf(format, args...), Misused} }

// Flag returns the usage error for a flag with an invalid value. The text of err may begin with the
// option that the flag sets.
func Flag(name string, err error) error {
	if text, ok := strings.CutPrefix(err.Error(), strings.ReplaceAll(name, "-", "_")+" is "); ok {
		return Usage("--%s is %s", name, text)
	}
	return Usage("--%s: %w", name, err)
}

// TryAgain marks err as a temporary failure.
func TryAgain(err error) error { return coded{err, Later} }

// Refuse marks err as permanent: it persists until the configuration or the
// state is changed.
func Refuse(err error) error { return coded{err, Refused} }

// Code returns the exit code of the process for err.
func Code(err error) int {
	if err == nil {
		return Done
	}
	var c coded
	if errors.As(err, &c) {
		return c.code
	}
	for _, e := range Exits {
		if errors.Is(err, e.Is) {
			return e.Code
		}
	}
	if ingest.Temporary(err) {
		return Later
	}
	return Failed
}

// OneLine formats the error with which the program exits as one line.
func OneLine(err error) string {
	return "accrete: " + strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
