package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/synth"
)

// adoptSummary is the result of a run with columns that are adopted.
type adoptSummary struct {
	killed

	Adopted int `json:"adopted"` // times that the model log says so
	Columns int `json:"columns"` // of the model in the end, of which adopted ones have taken over

	Renamed bool `json:"renamed"` // the model has read a column by its new name
}

// adoptions is how often the columns of the stream are adopted: one appears, one is renamed,
// and one gets another type.
const adoptions = 3

// named is how many records after a column is renamed its new name is known: names are compared
// over 1,024 rows by then, and another model, which has the name as a column of its own and may
// take over after 2,048, has not.
const named = 1500

// decisive returns the two inputs on which the class depends at first. They alone are ever beyond
// .75, and each says nothing without the other.
func decisive(s synth.Stream) (first, second int) {
	x := make([]float64, synth.Dim)
	first = -1
	for i := int64(0); ; i++ {
		s.At(i, x)
		for j, v := range x {
			switch {
			case math.Abs(v) <= .75:
			case first < 0:
				first = j
			case j != first:
				return first, j
			}
		}
	}
}

// lead has two inputs change places with the first two.
func lead(x []float64, first, second int) {
	x[0], x[first] = x[first], x[0]
	if second == 0 {
		second = first
	}
	x[1], x[second] = x[second], x[1]
}

// deployed returns example i of n of a producer that changes its columns: x0 appears after a
// fifth, x1 is called renamed after two, x2 is text after three, and x3 vanishes after four.
func deployed(x []float64, label string, i, n int) []byte {
	v := []byte(`{"features":{`)
	for j, f := range x {
		switch {
		case j == 0 && i < n/5, j == 3 && i >= 4*n/5:
		case j == 1 && i >= 2*n/5:
			v = fmt.Appendf(v, `"renamed":%.5g,`, f)
		case j == 2 && i >= 3*n/5:
			v = fmt.Appendf(v, `"x2":"level %v",`, math.Round(2*f))
		default:
			v = fmt.Appendf(v, `"x%d":%.5g,`, j, f)
		}
	}
	return fmt.Appendf(v[:len(v)-1], `},"label":"%s"}`, label)
}

// killAdopting kills learners whose columns change, and checks that the columns are adopted at
// the same records as without the kills.
func (w *world) killAdopting(ctx context.Context) (out adoptSummary, err error) {
	start := time.Now()
	if out.killed, err = w.killToEnd(ctx); err != nil {
		return out, err
	}
	faults, err := w.compareWithCalm(ctx, &out.killed)
	if err != nil {
		return out, err
	}
	if out.Learned != int64(w.examples) {
		faults = append(faults, fmt.Errorf("%d of %d examples were learned", out.Learned, w.examples))
	}
	log, _, err := w.output(ctx, "inspect", "-c", w.config("crash"))
	if err != nil {
		return out, err
	}
	if out.Adopted = strings.Count(string(log), "adopted from"); out.Adopted != adoptions {
		faults = append(faults, fmt.Errorf("columns were adopted %d times, want %d", out.Adopted, adoptions))
	}
	columns, _, err := w.output(ctx, "inspect", "-c", w.config("crash"), "--columns")
	if err != nil {
		return out, err
	}
	if out.Renamed, err = w.readByNewName(ctx); err != nil {
		return out, err
	}
	if !out.Renamed {
		faults = append(faults, errors.New("no column was read by its new name"))
	}
	if out.Columns = strings.Count(string(columns), ": numeric") + strings.Count(string(columns), ": category"); out.Columns < synth.Dim {
		faults = append(faults, fmt.Errorf("the model has %d columns: no other one has taken over", out.Columns))
	}
	out.Seconds = time.Since(start).Seconds()
	return out, errors.Join(faults...)
}

// readByNewName reports whether the model read x1 by its new name, and predicts so again.
func (w *world) readByNewName(ctx context.Context) (bool, error) {
	out, _, err := w.output(ctx, "prove", "-c", w.config("crash"), "--json", w.id(2*w.examples/5+named))
	if err != nil {
		return false, err
	}
	var r struct {
		Equal bool
		Input struct {
			Columns []struct {
				Name     string
				ReadFrom string `json:"read_from"`
			}
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return false, err
	}
	for _, c := range r.Input.Columns {
		if c.Name == "x1" && c.ReadFrom == "renamed" {
			return r.Equal, nil
		}
	}
	return false, nil
}
