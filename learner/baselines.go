package learner

// grade compares the prediction for row i of p, and what the baselines would
// have said, with its label.
func (l *Learner) grade(p *Pass, i int, y Label, weight float64) {
	if l.labelled == 0 {
		return // nothing has been said
	}
	f := p.sum(i)
	errors := [4]float64{
		p.head.wrong(p.Row(i), y),
		l.naive(y, Label{Task: l.task, Class: Best(l.weights), Value: l.mean}),
		l.naive(y, l.last),
	}
	errors[3] = errors[1]
	if l.fit != nil && l.linear.ready() {
		l.scratch.linear = extend(l.scratch.linear[:0], l.linear.outputs)
		l.linear.predict(l.scratch.linear, p.x[i*l.dim:(i+1)*l.dim])
		errors[3] = l.naive(y, l.linearLabel(l.scratch.linear))
	}
	value := float64(y.Class)
	if l.task == Regression {
		value = bounded(y.Value)
	}
	l.record.add(weight, errors, finite(p.head.graded(f, p.Row(i), y)), value)
}

// naive returns how far off a baseline is that says guess where y is right.
func (l *Learner) naive(y, guess Label) float64 {
	if l.task == Regression {
		d := bounded(guess.Value) - bounded(y.Value)
		return d * d
	}
	if y.Class == guess.Class {
		return 0
	}
	return 1
}

// linearLabel is what the outputs of the linear baseline say.
func (l *Learner) linearLabel(f []float64) Label {
	switch {
	case l.task == Regression:
		return Label{Task: Regression, Value: bounded(l.head.mean + float64(l.head.deviation*f[0]))}
	case len(f) > 1:
		return Label{Task: Classification, Class: Best(f)}
	case f[0] > 0:
		return Label{Task: Classification, Class: 1}
	}
	return Label{Task: Classification}
}

// teachLinear teaches the pending rows to the linear baseline.
func (l *Learner) teachLinear() {
	p := &l.pending
	l.scratch.target = extend(l.scratch.target[:0], l.linear.outputs)
	t := l.scratch.target
	for i, y := range p.labels {
		for k := range t {
			switch {
			case l.task == Regression:
				t[k] = l.target(y)
			case y.Class == k && len(t) > 1 || y.Class == 1 && len(t) == 1:
				t[k] = 1
			default:
				t[k] = -1
			}
		}
		l.linear.add(p.x[i*l.dim:(i+1)*l.dim], t, p.weights[i])
	}
	l.linear.end()
}
