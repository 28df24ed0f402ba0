package modellog

func (o *Owner) own(to Owner) { *o = to }

// Reown changes the owner of r, for a copy of a history. It removes the signature, and reports
// whether there was one.
func Reown(r Record, to Owner) (signed bool) {
	r.(interface{ own(Owner) }).own(to)
	if s, ok := r.(signable); ok {
		signed = len(*s.signature()) > 0
		*s.signature() = nil
	}
	return signed
}
