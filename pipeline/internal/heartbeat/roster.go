package heartbeat

// Roster decides when a standby takes over. It uses no clock. Its input is the heartbeats topic, in
// the order of offsets, and it measures time by the standby's own heartbeats in that topic. An
// unavailable broker therefore does not look like a dead owner, because the standby's own
// heartbeats do not arrive either. Nor does the owner seem silent to a standby that was paused.
type Roster struct {
	self    string
	Joined  int64 // offset of this standby's first heartbeat
	silence int   // own heartbeats since the last one of the owner
	patient bool  // own heartbeats were interrupted, and the owner has not been heard since
	Left    int64 // newest epoch of an owner that has left

	others map[string]*peer // the other standbys
}

// NewRoster returns the roster of the process with the heartbeat self.
func NewRoster(self Beat) Roster {
	return Roster{self: self.Process, Joined: self.Joined, others: map[string]*peer{}}
}

// peer is another standby.
type peer struct {
	joined  int64
	silence int // own heartbeats since the last one of the peer
}

const (
	// silentBeats is the number of own heartbeats without one of the owner in
	// between after which the owner counts as dead: 450 to 600 ms.
	silentBeats = 4

	// patientBeats is used instead after an outage, when the owner may reach the
	// broker later than this standby: 3 s.
	patientBeats = 20
)

// See processes the record at an offset of the heartbeats topic. epoch is the epoch of the current
// claim.
func (r *Roster) See(offset int64, b Beat, epoch int64) {
	switch {
	case b.Process == r.self:
		r.tick()
	case b.Role == Owner:
		delete(r.others, b.Process)
		if b.Epoch >= epoch { // otherwise that owner has lost its claim without knowing it
			r.OwnerAlive()
		}
	case b.Role == Standby:
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
		if b.Role == Left {
			r.Left = max(r.Left, b.Epoch)
		}
	}
}

func (r *Roster) tick() {
	r.silence++
	for id, p := range r.others {
		if p.silence++; p.silence > r.limit() {
			delete(r.others, id)
		}
	}
}

// OwnerAlive records a sign of life of the owner.
func (r *Roster) OwnerAlive() { r.silence, r.patient = 0, false }

// Interrupted records that own heartbeats did not arrive in time.
func (r *Roster) Interrupted() {
	r.patient, r.silence = true, 0
	for _, p := range r.others {
		p.silence = 0
	}
}

func (r *Roster) limit() int {
	if r.patient {
		return patientBeats
	}
	return silentBeats
}

// Due reports whether this standby has to claim the model, given the epoch of the claim
// in effect: its owner has left or is silent, and no other standby has waited longer.
func (r *Roster) Due(epoch int64) bool {
	if (epoch == 0 || r.Left < epoch) && r.silence < r.limit() {
		return false
	}
	for _, p := range r.others {
		if p.joined < r.Joined {
			return false
		}
	}
	return true
}
