package decide

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Costs are the costs of wrong predictions, by the names of the classes. A cost that is not given
// is 1, and a correct prediction costs nothing.
type Costs struct {
	text    string
	entries []entry
}

// entry is the cost of predicting a class for a row of another class. An empty predicted stands for
// any wrong class.
type entry struct {
	class, predicted string
	cost             float64
}

const (
	maxCosts = 256 // entries
	maxCost  = 1e9
)

// ParseCosts reads a JSON object of costs. {"fraud": 50} sets the cost of any wrong prediction for
// a row of class fraud. {"fraud": {"ok": 50}} sets the cost of predicting ok for it. Both forms can
// be combined.
func ParseCosts(text string) (*Costs, error) {
	c := &Costs{text: text}
	d := json.NewDecoder(strings.NewReader(text))
	var syntax *json.SyntaxError
	err := c.object(d, "")
	switch _, more := d.Token(); {
	case errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return nil, fmt.Errorf("costs %.100q: want none, f1 or a JSON object: %w", text, err)
	case err != nil:
		return nil, fmt.Errorf("costs: %w", err)
	case more != io.EOF:
		return nil, fmt.Errorf("costs %.100q: text after the object", text)
	case len(c.entries) == 0:
		return nil, errors.New("costs: no class is named")
	}
	return c, nil
}

// object reads the costs of rows of a class, or of all classes if class is empty.
func (c *Costs) object(d *json.Decoder, class string) error {
	if t, err := d.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("%v: want an object of class names", t)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		e := entry{class: class, predicted: t.(string)} // keys are always text
		if class == "" {
			e = entry{class: t.(string)}
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		if raw[0] == '{' && class == "" && e.class != "" {
			if err := c.object(json.NewDecoder(bytes.NewReader(raw)), e.class); err != nil {
				return err
			}
			continue
		}
		if json.Unmarshal(raw, &e.cost) != nil || string(raw) == "null" || !(e.cost >= 0 && e.cost <= maxCost) {
			return fmt.Errorf("class %q costs %.50s: want a number from 0 to %g", e.class, raw, float64(maxCost))
		}
		switch {
		case e.class == "" || class != "" && e.predicted == "":
			return errors.New("a class has no name")
		case e.class == e.predicted:
			return fmt.Errorf("class %q where it is right costs nothing", e.class)
		case slices.ContainsFunc(c.entries, func(o entry) bool { return o.class == e.class && o.predicted == e.predicted }):
			return fmt.Errorf("class %q is named twice", e.class)
		case len(c.entries) == maxCosts:
			return fmt.Errorf("more than %d numbers", maxCosts)
		}
		c.entries = append(c.entries, e)
	}
	_, err := d.Token()
	return err
}

// Names returns the names of the classes that occur in c, sorted.
func (c *Costs) Names() (names []string) {
	for _, e := range c.entries {
		names = append(names, e.class)
		if e.predicted != "" {
			names = append(names, e.predicted)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// priced holds the costs of classes by their indices.
type priced struct {
	weights []float64 // of each class: the cost of any wrong prediction
	pairs   []pair
}

// pair is the cost of predicting one class for another, less the weight of the true class.
type pair struct {
	class, predicted int
	more             float64
}

// of returns the costs of classes with these names.
func (c *Costs) of(classes []string) *priced {
	p := &priced{weights: make([]float64, len(classes))}
	for i := range p.weights {
		p.weights[i] = 1
	}
	for _, e := range c.entries {
		if i := slices.Index(classes, e.class); i >= 0 && e.predicted == "" {
			p.weights[i] = e.cost
		}
	}
	for _, e := range c.entries {
		i, j := slices.Index(classes, e.class), slices.Index(classes, e.predicted)
		if i >= 0 && j >= 0 {
			p.pairs = append(p.pairs, pair{i, j, e.cost - p.weights[i]})
		}
	}
	return p
}

// Cost returns the cost of predicting a class for a row of another class, by the costs of r.
// Without costs it is 1.
func (r Rule) Cost(class, predicted int) float64 {
	if class == predicted {
		return 0
	}
	if r.priced == nil {
		return 1
	}
	cost := 1.0
	if class < len(r.priced.weights) {
		cost = r.priced.weights[class]
	}
	for _, e := range r.priced.pairs {
		if e.class == class && e.predicted == predicted {
			cost += e.more
		}
	}
	return cost
}

// class returns the class with the least expected cost, given the probabilities probs. If several
// classes have the least cost, it returns the most probable of them.
func (c *priced) class(probs []float64) int {
	best, least := 0, 0.0
	for j, p := range probs {
		cost := 0.0 // relative to the cost of predicting none of the classes
		if j < len(c.weights) {
			cost = -float64(p * c.weights[j])
		}
		for _, e := range c.pairs {
			if e.predicted == j && e.class < len(probs) {
				cost += float64(probs[e.class] * e.more)
			}
		}
		if j == 0 || cost < least || cost == least && p > probs[best] {
			best, least = j, cost
		}
	}
	return best
}
