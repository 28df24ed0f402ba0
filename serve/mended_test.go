package serve

import (
	"errors"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A log that was broken is whole again only if it has the decision that was read last, or rolls it back.
func TestALogWithOtherRecordsIsNotMended(t *testing.T) {
	c, topic := kafkatest.Client(t), kafkatest.Name("m.log")
	if err := c.Create(t.Context(), topic, 1, map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}); err != nil {
		t.Fatal(err)
	}
	id, err := c.TopicID(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	owner, versions := modellog.Owner{Epoch: 1, Nonce: snapshot.ID{1}}, modellog.Versions{Arithmetic: 1, Decoder: 1}
	batch := &modellog.Batch{Owner: owner, Seq: 1, Ranges: []modellog.Range{{Topic: "rows", To: 1}}}
	batch.Chain = modellog.NextChain(snapshot.Hash{}, batch)
	var rs []ingest.Record
	for _, r := range []modellog.Record{
		&modellog.Claim{Owner: owner, TopicID: id, Versions: versions}, &modellog.Genesis{Owner: owner, Model: "m", TopicID: id, Versions: versions}, batch,
	} {
		key, value, err := modellog.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, ingest.Record{Key: key, Value: value})
	}
	if err := c.Producer().Publish(t.Context(), topic, 0, rs); err != nil {
		t.Fatal(err)
	}
	mended := func(b *broken) error {
		log, err := kafkalog.Open(t.Context(), kafkalog.Config{Client: c, Topic: topic, Keep: 1})
		if err != nil {
			t.Fatal(err)
		}
		return b.mended(t.Context(), log)
	}
	if err := mended(&broken{err: kafkalog.ErrLog, id: id, seq: 1, chain: batch.Chain, end: -1}); err != nil {
		t.Errorf("the records read before: %v", err)
	}
	for what, b := range map[string]*broken{
		"another chain": {seq: 1, chain: snapshot.Hash{1}},
		"a later seq":   {seq: 2, chain: batch.Chain},
	} {
		b.err, b.id, b.end = kafkalog.ErrLog, id, -1
		for range 2 { // the second time, the log has not changed
			if err := mended(b); !errors.Is(err, kafkalog.ErrLog) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
