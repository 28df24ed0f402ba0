package modellog

import (
	"crypto/ed25519"
	"fmt"

	"github.com/accrete-ml/accrete/snapshot"
)

const (
	maxText    = 1024    // bytes of a text for people
	maxVersion = 1 << 30 // maximum of arithmetic and decoder
)

func checkRecord(r Record) error {
	if o := r.owner(); o.Epoch < 1 || o.Nonce == (snapshot.ID{}) {
		return fmt.Errorf("written without a claim: %v", o)
	}
	if s, ok := r.(signable); ok {
		if n := len(*s.signature()); n != 0 && n != ed25519.SignatureSize {
			return fmt.Errorf("invalid signature of %d bytes", n)
		}
	}
	return r.check()
}

func (c *Claim) check() error {
	if len(c.Host) > maxText || len(c.Writer) > maxText {
		return fmt.Errorf("invalid host (%d bytes) or writer (%d)", len(c.Host), len(c.Writer))
	}
	return c.Versions.check(0)
}

func (c *Config) check() error {
	if len(c.Config) == 0 {
		return fmt.Errorf("configuration missing")
	}
	return snapshot.CheckConfig(c.Config)
}

func (b *Batch) check() error {
	if b.Seq < 1 || len(b.Ranges)+len(b.Tables) == 0 {
		return fmt.Errorf("seq %d, %d ranges", b.Seq, len(b.Ranges))
	}
	for i, r := range b.Ranges {
		if err := checkRange(r.Topic, r.Partition, r.From, r.To); err != nil {
			return err
		}
		if r.Records < 0 || r.Records > r.To-r.From {
			return fmt.Errorf("%d records do not fit in [%d, %d)", r.Records, r.From, r.To)
		}
		if i == 0 {
			continue
		}
		last := b.Ranges[i-1]
		c := snapshot.Position{Topic: last.Topic, Partition: last.Partition}.Compare(snapshot.Position{Topic: r.Topic, Partition: r.Partition})
		if c > 0 || c == 0 && last.To > r.From {
			return fmt.Errorf("the range of %s-%d from %d is out of order", r.Topic, r.Partition, r.From)
		}
	}
	if c := b.Counts; c.Learned < 0 || c.Predicted < 0 || c.Quarantined < 0 || c.Skipped < 0 || c.Labels < 0 {
		return fmt.Errorf("negative counts: %+v", c)
	}
	for _, s := range b.Schemas {
		if s.ID == "" || len(s.ID)+len(s.Type) > MaxName {
			return fmt.Errorf("a schema with the id %.300q of type %.300q", s.ID, s.Type)
		}
	}
	for _, c := range b.Tables {
		if c.Table == "" || len(c.Table) > MaxName || c.Partition < 0 || c.From < 0 || c.To < c.From || c.Rejected < 0 {
			return fmt.Errorf("invalid range [%d, %d) of table %.300q-%d", c.From, c.To, c.Table, c.Partition)
		}
	}
	for _, r := range b.Renames {
		if r.Column == "" || r.Field == "" || len(r.Column) > MaxName || len(r.Field) > MaxName {
			return fmt.Errorf("column %.300q is read from %.300q", r.Column, r.Field)
		}
	}
	if b.Output != nil && (b.Output.Format == "" || len(b.Output.Format) > MaxName) {
		return fmt.Errorf("predictions of the format %.300q", b.Output.Format)
	}
	return b.Columns.check()
}

func checkRange(topic string, partition int32, from, to int64) error {
	if !snapshot.ValidTopic(topic) || partition < 0 || from < 0 || to <= from {
		return fmt.Errorf("invalid range [%d, %d) of %q-%d", from, to, topic, partition)
	}
	return nil
}

func (g *Gap) check() error {
	if g.Seq < 1 {
		return fmt.Errorf("seq %d", g.Seq)
	}
	return checkRange(g.Topic, g.Partition, g.From, g.To)
}

func (r *Released) check() error {
	if r.Seq < 1 {
		return fmt.Errorf("seq %d", r.Seq)
	}
	return nil
}

func (p *Pause) check() error {
	if p.Seq < 1 || p.Bad < 0 || p.Bad == 0 && p.Columns == nil || p.Of < p.Bad || len(p.Reason) > maxText {
		return fmt.Errorf("seq %d, %d of %d records, reason of %d bytes", p.Seq, p.Bad, p.Of, len(p.Reason))
	}
	return p.Columns.check()
}

func (r *Resume) check() error {
	if r.Seq < 1 || len(r.By) > maxText {
		return fmt.Errorf("seq %d, writer of %d bytes", r.Seq, len(r.By))
	}
	return nil
}

func (m *Manifest) check() error {
	switch {
	case m.Seq < 0 || m.Step < 0 || len(m.Model) > snapshot.MaxTopic:
		return fmt.Errorf("seq %d, step %d, model %.300q", m.Seq, m.Step, m.Model)
	case m.Size < snapshot.PreambleSize || m.ServingSize < snapshot.PreambleSize || m.ServingSize > m.Size:
		return fmt.Errorf("size %d, serving part %d", m.Size, m.ServingSize)
	case m.ChunkSize < 1 || m.ChunkSize > chunkSize || int64(m.Chunks) != (m.Size+int64(m.ChunkSize)-1)/int64(m.ChunkSize):
		return fmt.Errorf("%d bytes do not give %d chunks of %d", m.Size, m.Chunks, m.ChunkSize)
	case m.Snapshot != snapshot.ID(m.SHA256[:16]):
		return fmt.Errorf("snapshot %v has sha256 %v", m.Snapshot, m.SHA256)
	case m.FirstChunk < m.Start.Offset || m.Start.Offset < 0 || m.Start.Epoch < 0 || m.Previous < -1:
		return fmt.Errorf("start %d, first chunk %d, previous %d", m.Start.Offset, m.FirstChunk, m.Previous)
	case m.Genesis != nil && (m.Genesis.Seq < 0 || m.Genesis.Seq > m.Seq):
		return fmt.Errorf("seq %d, before the beginning of the log at %d", m.Seq, m.Genesis.Seq)
	}
	if m.Genesis != nil {
		if s := m.Genesis.Start; s != nil {
			if err := s.check(); err != nil {
				return err
			}
		}
		if err := m.Genesis.Versions.check(1); err != nil {
			return err
		}
	}
	if err := m.Columns.check(); err != nil {
		return err
	}
	if err := m.Gate.check(); err != nil {
		return err
	}
	if err := m.Serving.check(); err != nil {
		return err
	}
	return snapshot.CheckConfig(m.Config)
}
