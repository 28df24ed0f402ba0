package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/accrete-ml/accrete/ingest"
)

// predictions is what a model has published up to now.
type predictions struct {
	client *ingest.Client
	topic  string
	next   []int64

	rename     func(*ingest.Record) // applied to a record before the comparison
	content    map[string][32]byte  // by id, digest of what does not depend on the boundaries of BATCHes
	id         func(*ingest.Record) string
	first      map[string][32]byte // by id, digest of the first copy
	duplicates int
	differing  int
}

func newPredictions(c *ingest.Client, model string) *predictions {
	return &predictions{client: c, topic: model + ".predictions", first: map[string][32]byte{}, content: map[string][32]byte{}, id: func(r *ingest.Record) string { return header(r, "ce_id") }}
}

// catchUp reads everything published up to now.
func (p *predictions) catchUp(ctx context.Context) error {
	first, end, err := p.client.Offsets(ctx, p.topic)
	if err != nil {
		if ingest.Temporary(err) { // killed before the topic was created
			return nil
		}
		return err
	}
	if p.next == nil {
		p.next = first
	}
	for i := range end {
		f := p.client.Fetcher(p.topic, i)
		for p.next[i] < end[i] {
			got, err := f.Poll(ctx, p.next[i])
			if err != nil {
				return err
			}
			for k := range got.Records {
				p.add(&got.Records[k])
			}
			p.next[i] = got.Next
		}
	}
	return nil
}

func (p *predictions) add(r *ingest.Record) {
	if p.rename != nil {
		p.rename(r)
	}
	id, sum := p.id(r), digest(r)
	was, ok := p.first[id]
	if !ok {
		p.first[id] = sum
		uncut := *r
		uncut.Headers = slices.DeleteFunc(slices.Clone(r.Headers), func(h ingest.Header) bool { return h.Key == "ce_sequence" })
		p.content[id] = digest(&uncut)
		return
	}
	p.duplicates++
	if was != sum {
		p.differing++
	}
}

func header(r *ingest.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// digest covers everything that a consumer sees of a record except its offset.
func digest(r *ingest.Record) [32]byte {
	var b bytes.Buffer
	field := func(f []byte) {
		binary.Write(&b, binary.LittleEndian, int64(len(f)))
		b.Write(f)
	}
	binary.Write(&b, binary.LittleEndian, r.Time)
	field(r.Key)
	field(r.Value)
	for _, h := range r.Headers {
		field([]byte(h.Key))
		field(h.Value)
	}
	return sha256.Sum256(b.Bytes())
}
