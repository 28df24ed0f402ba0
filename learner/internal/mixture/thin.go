package mixture

// leastTrusted is the weight below which learning a machine is not worth its full time. On
// stationary streams the weights of machines are below a tenth of it. On streams that change they
// are above it most of the time. Chosen by trial.
const leastTrusted = 0.02

// thinning is what the steps of such a machine are divided by. Chosen by trial.
const thinning = 16

// thinMachines reduces the cost of machines that have little weight for all targets, both in the
// predictions of the learner and in those of a scorer. The weight of a machine grows with the first
// rows that it predicts better than the other experts do, and so it learns at full cost again at
// once.
func (m *Mixture) thinMachines() {
	if len(m.machines) == 0 {
		return
	}
	most := m.losses // scratch
	clear(most)
	for i := range m.awake {
		m.awake[i] = true
	}
	for j := range m.targets {
		m.now.inner[j].Mix(m.w, m.awake)
		for e, w := range m.w {
			most[e] = max(most[e], w)
		}
		m.now.served[j].Mix(m.w[:len(m.static)], m.everyStatic)
		for i, e := range m.static {
			most[e] = max(most[e], m.w[i])
		}
	}
	for _, o := range m.machines {
		if most[o.expert] < leastTrusted {
			o.Thin(thinning)
		} else {
			o.Thin(1)
		}
	}
}
