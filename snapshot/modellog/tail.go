package modellog

// Tail folds the end of a log of the offsets [first, end), so that the length of
// a model's history does not matter: from begins a fold at the offset that it is
// given and reads to the end. Tail has it begin further and further back, until
// enough says that the fold has what it takes or there is nothing further back.
// It reads about what it has to, and five times that at most.
func Tail(first, end int64, from func(begin int64) (*Fold, error), enough func(*Fold) bool) error {
	for back := int64(16); ; back *= 4 {
		begin := max(first, end-back)
		for {
			f, err := from(begin)
			if err == nil && begin == first && !f.Seeded() {
				return f.tooNew
			}
			if err != nil || begin == first || f.Seeded() && f.checked && enough(f) {
				return err
			}
			if f.Seeded() && f.checked || f.wants < 0 || f.wants > begin {
				break
			}
			begin = max(first, f.wants-1) // with the BATCH at which the newest snapshot stands
			back = max(back, end-begin)
		}
	}
}
