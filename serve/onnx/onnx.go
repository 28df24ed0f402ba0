// Package onnx writes models as ONNX graphs, for any ONNX runtime.
//
// A graph has one input, x: float64, rows × columns, with the columns in the order of the
// model. NaN is a missing value, and a boolean is 0 or 1. The outputs are named after the
// members of a prediction (docs/predictions.md). A graph rounds to float32 in the same places
// as the model, so that results differ only by the last digits of exponentials and logarithms.
package onnx

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// ErrUnsupported is the error for a model that cannot be written as ONNX.
var ErrUnsupported = errors.New("the model cannot be written as ONNX")

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// Encode returns the model of a snapshot as an ONNX file.
func Encode(s *snapshot.Snapshot) ([]byte, error) {
	served, err := learner.NewModel(s.State.Serving) // checks that the arrays are consistent
	if err != nil {
		return nil, err
	}
	m, err := newModel(s, served)
	if err != nil {
		return nil, err
	}
	var g graph
	x, err := m.scaled(&g)
	if err != nil {
		return nil, err
	}
	if err := m.outputs(&g, x, m.scores(&g, x)); err != nil {
		return nil, err
	}
	about := [][2]string{
		{"model", s.Model}, {"step", strconv.FormatInt(s.Step, 10)}, {"lineage", s.Lineage.String()},
		{"state_hash", s.StateHash.String()}, {"columns", m.names()},
	}
	if m.schema.Aliases != nil {
		about = append(about, [2]string{"read_from", m.aliases()})
	}
	return g.file("accrete", about), nil
}
