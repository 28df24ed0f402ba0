package machine

import (
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Save writes the engine, with names that begin with the name of m.
func (m *Machine) Save(a *state.Arrays, _ string) {
	state.PutUnder(a, m.name+".", func(own *state.Arrays) {
		blocks := int64(0)
		if m.engine != nil {
			blocks = int64(m.engine.Serving().Blocks)
		}
		state.Put(own, "blocks", 1, []int64{blocks})
		if m.engine != nil {
			m.engine.Save(own)
		}
		if m.resets {
			m.adwin.Save(own)
			m.hinkley.Save(own)
		}
	})
}

// Load reads what Save wrote.
func (m *Machine) Load(s *state.Reader, _ string) { state.TakeUnder(s, m.name+".", m.load) }

// mostBatches bounds a count of mini-batches.
const mostBatches = 1 << 50

func (m *Machine) load(s *state.Reader) {
	blocks := state.Take[int64](s, "blocks", 1, 1)
	if s.Err != nil {
		return
	}
	most := 0
	if m.engine != nil {
		most = limited(m.problem()).Options.MaxBlocks()
	}
	s.Require(blocks[0] >= 0 && blocks[0] <= int64(most), "%d blocks of at most %d", blocks[0], most)
	if s.Err != nil {
		return
	}
	if m.engine != nil {
		m.engine.Load(s, engine.Served{Blocks: int(blocks[0])}, mostBatches)
	}
	if m.resets {
		m.adwin.Load(s)
		m.hinkley.Load(s)
	}
}
