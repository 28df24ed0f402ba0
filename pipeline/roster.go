package pipeline

// roster decides when a standby takes over. It knows no clock: what it sees is
// the heartbeats topic, in its order, and the standby's own heartbeats in it, one
// after the other, are what time passes by. Therefore a broker that is away is no
// death, for then the standby's own heartbeats do not arrive either; and a standby
// that was paused has not seen the owner silent.
type roster struct {
	self    string
	joined  int64 // offset of our first heartbeat
	silence int   // heartbeats of ours since the owner's last one
	patient bool  // our own were interrupted, and the owner was not heard since
	left    int64 // newest epoch of a claim whose owner has left

	others map[string]*peer // the other standbys
}

// peer is another standby.
type peer struct {
	joined  int64
	silence int // heartbeats of ours since its last one
}

const (
	// silentBeats of ours without one of the owner in between mean that the owner
	// is dead: 450 to 600 ms.
	silentBeats = 4

	// After an outage the owner may find its way back to the broker later than we
	// do: 3 s.
	patientBeats = 20
)

// see takes in the record at offset of the heartbeats topic. epoch is that of the
// claim in force.
func (r *roster) see(offset int64, b heartbeat, epoch int64) {
	switch {
	case b.Process == r.self:
		r.tick()
	case b.Role == owning:
		delete(r.others, b.Process)
		if b.Epoch >= epoch { // else it has lost its claim and does not know yet
			r.heard()
		}
	case b.Role == standingBy:
		p := r.others[b.Process]
		if p == nil {
			p = &peer{joined: offset}
			r.others[b.Process] = p
		}
		if b.Joined >= 0 {
			p.joined = b.Joined
		}
		p.silence = 0
	default:
		delete(r.others, b.Process)
		if b.Role == left {
			r.left = max(r.left, b.Epoch)
		}
	}
}

func (r *roster) tick() {
	r.silence++
	for id, p := range r.others {
		if p.silence++; p.silence > r.limit() {
			delete(r.others, id)
		}
	}
}

// heard takes in a sign of life of the owner.
func (r *roster) heard() { r.silence, r.patient = 0, false }

// interrupted takes in that our own heartbeats did not arrive in time.
func (r *roster) interrupted() {
	r.patient, r.silence = true, 0
	for _, p := range r.others {
		p.silence = 0
	}
}

func (r *roster) limit() int {
	if r.patient {
		return patientBeats
	}
	return silentBeats
}

// due says whether it is for this standby to claim the model, now that epoch is
// that of the claim in force: its owner has left or is silent, and no other
// standby has waited for longer.
func (r *roster) due(epoch int64) bool {
	if (epoch == 0 || r.left < epoch) && r.silence < r.limit() {
		return false
	}
	for _, p := range r.others {
		if p.joined < r.joined {
			return false
		}
	}
	return true
}
