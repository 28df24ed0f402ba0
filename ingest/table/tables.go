package table

import "fmt"

// Tables are those of a model.
type Tables struct{ All []*Table }

// New returns empty Tables, nil for none. The configurations are effective.
func New(all []Config) *Tables {
	if len(all) == 0 {
		return nil
	}
	t := new(Tables)
	for _, c := range all {
		t.All = append(t.All, newTable(c))
	}
	return t
}

// Check returns an error if the changes cannot be of these tables.
func (t *Tables) Check(changes []Changes) error {
	for i := range changes {
		of := t.find(changes[i].Table)
		if of == nil {
			return fmt.Errorf("the model has no table %.300q", changes[i].Table)
		}
		if err := of.check(&changes[i]); err != nil {
			return err
		}
	}
	return nil
}

// Apply applies changes that Check accepts, in their order.
func (t *Tables) Apply(changes []Changes) {
	for i := range changes {
		t.find(changes[i].Table).apply(&changes[i])
	}
}

func (t *Tables) find(name string) *Table {
	if t != nil {
		for _, of := range t.All {
			if of.config.Name() == name {
				return of
			}
		}
	}
	return nil
}

// Clone returns a copy of t.
func (t *Tables) Clone() *Tables {
	if t == nil {
		return nil
	}
	c := new(Tables)
	for _, of := range t.All {
		c.All = append(c.All, of.clone())
	}
	return c
}

// Status returns how the tables are now.
func (t *Tables) Status() (all []Status) {
	if t == nil {
		return nil
	}
	for _, of := range t.All {
		all = append(all, Status{of.config.Name(), len(of.rows), of.bytes, of.counts})
	}
	return all
}
