package table

import "fmt"

// Tables holds all tables of a model.
type Tables struct{ All []*Table }

// New returns empty Tables, or nil if there are no configurations. These must be effective.
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

// Check returns an error if changes cannot come from the topics of these tables.
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

// Apply applies changes that Check accepts, in order.
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

// Status returns the state of each table.
func (t *Tables) Status() (all []Status) {
	if t == nil {
		return nil
	}
	for _, of := range t.All {
		all = append(all, Status{of.config.Name(), len(of.rows), of.bytes, of.counts})
	}
	return all
}
