package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Exit codes, from sysexits.h where it defines one.
const (
	done    = 0
	failed  = 1
	misused = 2
	later   = 75 // EX_TEMPFAIL
	fenced  = 76 // EX_PROTOCOL, the nearest code: another learner has taken over the model
	refused = 78 // EX_CONFIG
)

const exitHelp = `Exit codes:
  0   success
  1   failure
  2   wrong usage
  75  temporary failure, try again (broker unreachable, or hung)
  76  fenced: another learner has claimed the model; do not restart, except with
      learn --standby
  78  invalid configuration or incompatible state`

// exits maps errors to exit codes; the first match wins. Other errors exit with
// 75 if Kafka reports them as temporary, and with 1 otherwise.
var exits = []struct {
	is   error
	code int
}{
	{config.ErrInvalid, refused},
	{ingest.ErrUnreachable, later},
	{ingest.ErrUnknownTopic, refused},
	{ingest.ErrDenied, refused},
	{pipeline.ErrFenced, fenced}, // if restarted, it would take the model over again
	{pipeline.ErrHung, later},
	{pipeline.ErrUndrained, later},
	{pipeline.ErrHistory, refused},
	{pipeline.ErrLog, refused},
	{pipeline.ErrVersion, refused},
	{pipeline.ErrNowhere, refused},
	{pipeline.ErrAdopt, refused},
	{pipeline.ErrCopy, refused},
	{pipeline.ErrOptions, refused},
	{pipeline.ErrTopic, refused},
	{record.ErrOutput, refused},
	{pipeline.ErrGap, refused},
	{pipeline.ErrPoisoned, refused},
	{learner.ErrLags, refused},
	{refit.ErrUnfit, refused},
	{learner.ErrInputs, refused},
	{learner.ErrMetric, refused},
	{snapshot.ErrTooNew, refused},
	{snapshot.ErrCorrupt, refused},
	{snapshot.ErrTruncated, refused},
	{snapshot.ErrLimit, refused},
	{snapshot.ErrMismatch, refused},
	{modellog.ErrSignature, refused},
}

// coded is an error with an explicit exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// wrongUse returns a command-line usage error.
func wrongUse(format string, args ...any) error { return coded{fmt.Errorf(format, args...), misused} }

// tryAgain marks err as a temporary failure.
func tryAgain(err error) error { return coded{err, later} }

// refuse marks err as permanent: it persists until the configuration or the
// state is changed.
func refuse(err error) error { return coded{err, refused} }

func exitCode(err error) int {
	if err == nil {
		return done
	}
	var c coded
	if errors.As(err, &c) {
		return c.code
	}
	for _, e := range exits {
		if errors.Is(err, e.is) {
			return e.code
		}
	}
	if ingest.Temporary(err) {
		return later
	}
	return failed
}

// oneLine formats the error with which the program exits as one line.
func oneLine(err error) string {
	return "accrete: " + strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
