package state

import "strings"

// PutUnder adds the arrays that save writes, with a prefix before their names.
func PutUnder(a *Arrays, prefix string, save func(own *Arrays)) {
	var own Arrays
	save(&own)
	for _, of := range own {
		of.Name = prefix + of.Name
		*a = append(*a, of)
	}
}

// TakeUnder calls load to read all of the next arrays whose names have the prefix. load sees the
// names without it.
func TakeUnder(s *Reader, prefix string, load func(own *Reader)) {
	if s.Err != nil {
		return
	}
	own := &Reader{}
	for len(s.In) > 0 && strings.HasPrefix(s.In[0].Name, prefix) {
		a := s.In[0]
		a.Name = strings.TrimPrefix(a.Name, prefix)
		own.In, s.In = append(own.In, a), s.In[1:]
	}
	load(own)
	if err := own.End(); err != nil {
		s.Fail("%s: %w", strings.TrimSuffix(prefix, "."), err)
	}
}
