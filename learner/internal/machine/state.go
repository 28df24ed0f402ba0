package machine

import (
	"strings"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Save writes the engine, with names that begin with the name of m.
func (m *Machine) Save(a *state.Arrays, _ string) {
	var own state.Arrays
	blocks := int64(0)
	if m.engine != nil {
		blocks = int64(m.engine.Serving().Blocks)
	}
	state.Put(&own, "blocks", 1, []int64{blocks})
	if m.engine != nil {
		m.engine.Save(&own)
	}
	if m.resets {
		m.adwin.Save(&own)
		m.hinkley.Save(&own)
	}
	for _, of := range own {
		of.Name = m.prefix() + of.Name
		*a = append(*a, of)
	}
}

func (m *Machine) prefix() string { return m.name + "." }

// Load reads what Save wrote after that many mini-batches.
func (m *Machine) Load(s *state.Reader, _ string) {
	if s.Err != nil {
		return
	}
	own := &state.Reader{}
	for len(s.In) > 0 && strings.HasPrefix(s.In[0].Name, m.prefix()) {
		a := s.In[0]
		a.Name = strings.TrimPrefix(a.Name, m.prefix())
		own.In, s.In = append(own.In, a), s.In[1:]
	}
	m.load(own)
	if err := own.End(); err != nil {
		s.Fail("%s: %w", m.name, err)
	}
}

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
