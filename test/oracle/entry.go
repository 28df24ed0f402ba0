package oracle

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// entry has the members of all kinds of log records.
type entry struct {
	Type   string
	Epoch  int64
	Nonce  string
	Seq    int64
	Chain  string
	Ranges []span
	Counts struct{ Learned, Predicted, Quarantined, Skipped int64 }

	Tables []change // of a BATCH

	Topic     string // of a GAP, and of partitions
	TopicID   string `json:"topic_id"`
	Partition int32
	From, To  int64

	ToSeq   int64  `json:"to_seq"` // of a rollback
	ToChain string `json:"to_chain"`
	Inputs  []adopted

	Arithmetic, Decoder uint32 // of a claim, genesis and upgrade

	Config json.RawMessage

	Snapshot  string // of a manifest
	StateHash string `json:"state_hash"`
	Lineage   string
	SHA256    string
	Size      int64
	Chunks    int
	Start     struct {
		Offset, Epoch int64
		Nonce         string
	}

	offset int64    // offset in the log
	sum    [32]byte // hash of key and value

	index int // index of a CHUNK
	data  []byte
}

// adopted is a topic that replaces another one.
type adopted struct {
	Topic      string
	TopicID    string `json:"topic_id"`
	NewTopic   string `json:"new_topic"`
	NewID      string `json:"new_id"`
	Partitions []struct {
		Partition   int32
		From, Next  int64
		Fingerprint uint64 `json:",string"`
	}
}

type span struct {
	Topic     string
	TopicID   string `json:"topic_id"`
	Partition int32
	From, To  int64
	Records   int64
	Digest    uint64 `json:",string"`
}

// parse parses one record of the log.
func parse(r Record) (e entry, err error) {
	if string(r.Key) == "chunk" {
		e, err = parseChunk(r.Value)
	} else if err = json.Unmarshal(r.Value, &e); err == nil && e.Type != string(r.Key) {
		err = fmt.Errorf("a %q under the key %q", e.Type, r.Key)
	}
	e.offset = r.Offset
	e.sum = sha256.Sum256(bytes.Join([][]byte{r.Key, r.Value}, []byte{0}))
	return e, err
}

func parseChunk(b []byte) (e entry, err error) {
	le := binary.LittleEndian
	if len(b) <= 64 || !bytes.HasPrefix(b, []byte("\x89ACK\x01\x00")) || int(le.Uint32(b[56:])) != len(b)-64 {
		return e, fmt.Errorf("not a chunk")
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	sum.Write(b[:60])
	sum.Write(b[64:])
	if sum.Sum32() != le.Uint32(b[60:]) {
		return e, fmt.Errorf("a chunk with a wrong checksum")
	}
	typ := "chunk"
	if b[6] != 0 { // a chunk of a challenger, which is not part of the history
		typ = "challenger chunk"
	}
	return entry{
		Type: typ, Epoch: int64(le.Uint64(b[8:])), Nonce: hex.EncodeToString(b[16:32]),
		Snapshot: hex.EncodeToString(b[32:48]), index: int(le.Uint32(b[48:])), Chunks: int(le.Uint32(b[52:])), data: b[64:],
	}, nil
}

// topicID parses an id in the notation of Kafka's tools.
func topicID(text string) (id [16]byte, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && len(b) != len(id) {
		err = fmt.Errorf("a topic id of %d bytes", len(b))
	}
	copy(id[:], b)
	return id, err
}

// link returns the chain hash after e; last is the previous one.
func link(last [32]byte, e entry) (chain [32]byte, err error) {
	var b bytes.Buffer
	number := func(ns ...any) {
		for _, n := range ns {
			binary.Write(&b, binary.LittleEndian, n)
		}
	}
	name := func(topic, id string) {
		raw, bad := topicID(id)
		if bad != nil {
			err = bad
		}
		number(uint32(len(topic)))
		b.WriteString(topic)
		b.Write(raw[:])
	}
	b.WriteString("accrete chain 1 " + e.Type + "\x00")
	b.Write(last[:])
	number(e.Seq)
	switch e.Type {
	case "batch":
		number(uint32(len(e.Ranges)))
		for _, s := range e.Ranges {
			name(s.Topic, s.TopicID)
			number(s.Partition, s.From, s.To, s.Records, s.Digest)
		}
		number(e.Counts.Learned, e.Counts.Predicted, e.Counts.Quarantined, e.Counts.Skipped)
		text := func(s string) {
			number(uint32(len(s)))
			b.WriteString(s)
		}
		for _, c := range e.Tables {
			b.WriteString("table")
			name(c.Table, c.TopicID)
			number(c.Partition, c.From, c.To, c.Rejected, uint32(len(c.Rows)))
			for _, r := range c.Rows {
				text(r.Key)
				text(string(r.Values))
			}
		}
	case "gap":
		name(e.Topic, e.TopicID)
		number(e.Partition, e.From, e.To)
	case "rollback":
		to, bad := hex.DecodeString(e.ToChain)
		if bad != nil {
			err = bad
		}
		number(e.ToSeq)
		b.Write(to)
	case "adopt":
		number(uint32(len(e.Inputs)))
		for _, in := range e.Inputs {
			name(in.Topic, in.TopicID)
			name(in.NewTopic, in.NewID)
			number(uint32(len(in.Partitions)))
			for _, p := range in.Partitions {
				number(p.Partition, p.From, p.Next, p.Fingerprint)
			}
		}
	case "upgrade":
		number(e.Arithmetic, e.Decoder)
	}
	return sha256.Sum256(b.Bytes()), err
}
