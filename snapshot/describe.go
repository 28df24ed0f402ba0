package snapshot

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/learner"
)

// Description describes the contents of a file for people.
type Description struct {
	Format      string          `json:"format"` // major.minor
	Size        int64           `json:"size"`
	ServingSize int64           `json:"serving_size"`
	SHA256      Hash            `json:"sha256"`
	StateHash   Hash            `json:"state_hash"`
	Model       string          `json:"model"`
	Epoch       int64           `json:"epoch"`
	Seq         int64           `json:"seq"`
	Step        int64           `json:"step"`
	Chain       Hash            `json:"chain"`
	Lineage     Hash            `json:"lineage"`
	Rows        Hash            `json:"rows"`
	ConfigHash  Hash            `json:"config_hash"`
	Config      json.RawMessage `json:"config,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	LearnedTo   []Position      `json:"learned_to"`
	Positions   []Position      `json:"positions"`
	Writer      string          `json:"writer,omitempty"`
	Time        *time.Time      `json:"time,omitempty"`
	Sections    []Section       `json:"sections"`
	Damage      string          `json:"damage,omitempty"` // why Decode rejects the file
}

// Section describes one part of a file.
type Section struct {
	Kind    string `json:"kind"`
	Name    string `json:"name,omitempty"` // name of an array
	Serving bool   `json:"serving"`
	Type    string `json:"type"`
	Shape   [2]int `json:"shape"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
	CRC32C  string `json:"crc32c"`
	Damaged bool   `json:"damaged,omitempty"`
	Values  any    `json:"values,omitempty"` // contents of an array that is a short text or has up to 8 numbers
}

// Describe describes the file b as far as it can be read. If Decode rejects the
// file, Describe returns its error, and the description is not reliable.
func Describe(b []byte, limit int64) (*Description, error) {
	f, err := open(b, limit)
	if err != nil {
		return nil, err
	}
	d := &Description{Format: f.version(), Size: int64(len(b)), ServingSize: f.serving, SHA256: sha(b), StateHash: f.state}
	s, err := Decode(b, limit)
	if err != nil {
		d.Damage = err.Error()
		s = new(Snapshot)
		if readHeader(b[PreambleSize:PreambleSize+f.header], s) != nil {
			s = new(Snapshot)
		}
	}
	d.Model, d.Epoch, d.Seq, d.Step = s.Model, s.Epoch, s.Seq, s.Step
	d.Chain, d.Lineage, d.Rows, d.ConfigHash = s.Chain, s.Lineage, s.Rows, s.ConfigHash
	d.Config, d.Schema = s.Config, s.Schema
	d.LearnedTo, d.Positions = s.LearnedTo, s.Positions
	d.Writer = s.Info.Writer
	if s.Info.Time != 0 {
		t := time.UnixMilli(s.Info.Time).UTC()
		d.Time = &t
	}
	arrays := append(append([]learner.Array(nil), s.State.Serving...), s.State.Resuming...)
	for i, sec := range f.sections {
		out := Section{
			Kind: sectionName(sec.kind), Name: sec.name, Serving: i < f.first, Type: sec.dtype.String(),
			Shape: [2]int{int(sec.rows), int(sec.cols)}, Offset: sec.offset, Length: sec.length,
			CRC32C: fmt.Sprintf("%08x", sec.sum),
		}
		out.Damaged = sec.offset+sec.length > int64(len(b)) || f.checkSum(sec) != nil
		if sec.kind == arraySection && len(arrays) > 0 {
			out.Values = preview(arrays[0].Data)
			arrays = arrays[1:]
		}
		d.Sections = append(d.Sections, out)
	}
	return d, err
}

// preview returns data if it is short enough to read, and otherwise nil. It also returns nil for
// numbers that JSON cannot represent.
func preview(data any) any {
	switch v := data.(type) {
	case []byte:
		if len(v) <= 256 && utf8.Valid(v) {
			return string(v)
		}
	default:
		if n := length(data); n > 0 && n <= 8 {
			if _, err := json.Marshal(data); err == nil {
				return data
			}
		}
	}
	return nil
}
