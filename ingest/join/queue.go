package join

// queue is a binary heap of entries, the first to expire on top.
type queue []*entry

func (q queue) less(i, j int) bool {
	if q[i].until != q[j].until {
		return q[i].until < q[j].until
	}
	return q[i].seq < q[j].seq
}

func (q queue) swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

func (q *queue) push(e *entry) {
	e.at = len(*q)
	*q = append(*q, e)
	q.up(e.at)
}

// remove removes e, which is in q.
func (q *queue) remove(e *entry) {
	i, last := e.at, len(*q)-1
	q.swap(i, last)
	(*q)[last] = nil
	*q = (*q)[:last]
	if i < last {
		q.up(i)
		q.down(i)
	}
}

func (q queue) up(i int) {
	for i > 0 && q.less(i, (i-1)/2) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (q queue) down(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(q) && q.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		q.swap(i, least)
		i = least
	}
}
