package modellog

import "math"

// Tail folds the end of a log with the offsets [first, end), so that the time does not depend on
// the length of the history. The function from begins a fold at the offset begin, makes it Retain
// the seq remember, and reads to the end. Tail calls it with earlier and earlier offsets, until
// enough accepts the fold or the beginning of the log is reached. It reads at most five times as
// much as necessary, and twice that if a ROLLBACK goes back further than the fold remembers.
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
				f.Retain(math.MaxInt64)
				if !f.Seeded() {
					return f.tooNew
				}
				return nil
			}
			if f.Seeded() && f.checked || f.wants < 0 || f.wants > begin {
				break
			}
			begin = max(first, f.wants-1) // at the decision of the newest snapshot
			back = max(back, end-begin)
		}
	}
}
