package modellog

import "math"

// Tail folds the end of a log of the offsets [first, end), so that the length of
// a model's history does not matter: from begins a fold at the offset that it is
// given, has it Remember the seq, and reads to the end. Tail has it begin further
// and further back, until enough says that the fold has what it takes or there is
// nothing further back. It reads about what it has to, and five times that at
// most; twice that where a ROLLBACK goes back further than the fold remembers.
func Tail(first, end int64, from func(begin, remember int64) (*Fold, error), enough func(*Fold) bool) error {
	remember := int64(math.MaxInt64)
	for back := int64(16); ; back *= 4 {
		begin := max(first, end-back)
		for {
			f, err := from(begin, remember)
			if err != nil {
				return err
			}
			found := f.Seeded() && f.checked && enough(f)
			again := f.lost < remember
			remember = min(remember, f.lost)
			if found || begin == first && !again {
				f.Remember(math.MaxInt64)
				if !f.Seeded() {
					return f.tooNew
				}
				return nil
			}
			if f.Seeded() && f.checked || f.wants < 0 || f.wants > begin {
				break
			}
			begin = max(first, f.wants-1) // with the decision at which the newest snapshot stands
			back = max(back, end-begin)
		}
	}
}
