package weighing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Balanced is the text of Shares that are equal for all classes.
const Balanced = "balanced"

const (
	maxShares = 256
	leastOf   = 1e-6 // bounds of a share
	mostOf    = 1e6
)

// Shares are the shares that classes are to have of the rows that are learned, relative to each
// other.
type Shares struct {
	of map[string]float64 // by class; nil: all are equal
}

// ParseShares reads "balanced" or a JSON object of shares by class.
func ParseShares(text string) (*Shares, error) {
	if text == Balanced {
		return &Shares{}, nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	s := &Shares{of: map[string]float64{}}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("balance %.100q: want none, balanced, or a JSON object of shares by class", text)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("balance %.100q: %w", text, err)
		}
		name, raw := t.(string), json.RawMessage(nil) // keys are always text
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("balance %.100q: %w", text, err)
		}
		share := 0.0
		_, twice := s.of[name]
		switch err := json.Unmarshal(raw, &share); {
		case err != nil || !(share >= leastOf && share <= mostOf):
			return nil, fmt.Errorf("balance: the share of class %q is %.50s: want a number from %g to %g", name, raw, leastOf, mostOf)
		case name == "":
			return nil, errors.New("balance: a class has no name")
		case twice:
			return nil, fmt.Errorf("balance: class %q is named twice", name)
		case len(s.of) == maxShares:
			return nil, fmt.Errorf("balance: more than %d classes", maxShares)
		}
		s.of[name] = share
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("balance %.100q: %w", text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("balance %.100q: text after the object", text)
	}
	if len(s.of) < 2 {
		return nil, errors.New("balance: want shares of two classes or more: they are relative to each other")
	}
	return s, nil
}

// Names returns the classes that s names, nil if it names none.
func (s *Shares) Names() []string { return slices.Sorted(maps.Keys(s.of)) }

// share returns the share of a class, or 0 if the class is never thinned. names may be shorter than
// the number of classes; unless all shares are equal, a class without a name has the share 0.
func (s *Shares) share(class int, names []string) float64 {
	switch {
	case s.of == nil:
		return 1
	case class < len(names):
		return s.of[names[class]]
	}
	return 0
}
