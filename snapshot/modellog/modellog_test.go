package modellog

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

var anyone = Owner{Epoch: 3, Nonce: snapshot.ID{1, 2, 3}}

// records returns one record of each type.
func records(t testing.TB) []Record {
	t.Helper()
	topic := snapshot.TopicID{1, 15: 255}
	batch := &Batch{Owner: anyone, Seq: 18, Ranges: []Range{
		{Topic: "payments", TopicID: topic, Partition: 0, From: 5, To: 1005, Records: 999, Digest: 1<<64 - 1},
		{Topic: "payments", TopicID: topic, Partition: 10, From: 0, To: 1},
	}, Counts: Counts{Learned: 900, Predicted: 90, Quarantined: 9}}
	batch.Chain = NextChain(hash("chain"), batch)
	gap := &Gap{Owner: anyone, Seq: 19, Topic: "payments", TopicID: topic, Partition: 1, From: 7, To: 9}
	gap.Chain = NextChain(batch.Chain, gap)
	rollback := &Rollback{Owner: anyone, Seq: 25, ToSeq: 18, ToChain: batch.Chain, Reason: "a bad day", By: "ann@host"}
	rollback.Chain = NextChain(gap.Chain, rollback)
	adopt := &Adopt{Owner: anyone, Seq: 26, By: "ann@host", Inputs: []Adopted{
		{Topic: "payments", TopicID: topic, NewID: snapshot.TopicID{2}, Partitions: []AdoptedPartition{{From: 1005, Next: 5, Fingerprint: 1<<64 - 1}, {Partition: 10, From: 1}}},
		{Topic: "refunds", TopicID: topic, NewTopic: "eu.refunds", NewID: snapshot.TopicID{3}, Partitions: []AdoptedPartition{{Partition: 1, From: 9, Next: 11}}},
	}}
	adopt.Chain = NextChain(rollback.Chain, adopt)
	upgrade := &Upgrade{Owner: anyone, Seq: 27, Versions: Versions{2, 1}, Writer: "1.2.3"}
	upgrade.Chain = NextChain(adopt.Chain, upgrade)
	chunks, manifest, err := Split(encode(t, sample()), anyone, 0)
	if err != nil {
		t.Fatal(err)
	}
	manifest.Start = Place{Offset: 5, Owner: anyone}
	manifest.FirstChunk, manifest.Previous = 9, -1
	rival := *chunks[0]
	rival.Challenger = true
	bound := 0.25
	challenger := &Challenger{Manifest: *manifest, Refit: Refit{
		Rows: 4096, FromSeq: 3, Loss: "square", Lambda: 3e-5, Tolerance: 1e-3,
		Relative: 0.0005, Gap: 0.00025, Bound: 4, Passes: 7, Suboptimality: &bound,
	}}
	return []Record{
		&Claim{Owner: anyone, Host: `a "host" <1>`},
		&Config{Owner: anyone, Hash: hash("config"), Config: json.RawMessage(`{"a":"<&>","b":[1,2e3]}`)},
		batch, gap, &Released{Owner: anyone, Seq: 17},
		&Pause{Owner: anyone, Seq: 19, Bad: 501, Of: 1000, Reason: "not \"JSON\""}, &Resume{Owner: anyone, Seq: 19, By: "ann@host"},
		&Claim{Owner: anyone, Host: "b", TopicID: topic, Versions: Versions{2, 1}, Writer: "1.2.3"},
		&Genesis{Owner: anyone, Model: "fraud", TopicID: topic, Seq: 7, Versions: Versions{2, 1}, Writer: "1.2.3"},
		rollback, adopt, upgrade,
		&Partitions{Owner: anyone, Topic: "payments", TopicID: topic, Count: 12},
		chunks[0], manifest, &rival, challenger,
	}
}

// What Encode returns can be read again: it returns an error for a record over the size limit.
func TestEncodeKeepsToTheSizeLimit(t *testing.T) {
	batch := &Batch{Owner: anyone, Seq: 1}
	accepted := 0
	for _, n := range []int{1, 1000, 6000, 9000} {
		for i := len(batch.Ranges); i < n; i++ {
			batch.Ranges = append(batch.Ranges, Range{Topic: "payments", TopicID: snapshot.TopicID{1}, Partition: int32(i), From: 1e9, To: 1e9 + 1, Records: 1, Digest: 1 << 60})
		}
		key, value, err := Encode(batch)
		if err == nil {
			accepted = n
			_, err := Parse(key, value)
			if err != nil {
				t.Errorf("%d ranges: %v", n, err)
			}
		} else if !errors.Is(err, snapshot.ErrLimit) {
			t.Errorf("%d ranges: %v", n, err)
		}
	}
	if accepted < 1000 || accepted == 9000 {
		t.Errorf("%d ranges are encoded", accepted)
	}
}

func TestRecordsComeBack(t *testing.T) {
	for _, r := range records(t) {
		key, value, err := Encode(r)
		if err != nil {
			t.Fatalf("%v: %v", r, err)
		}
		if string(key) != r.Type() {
			t.Errorf("%v has the key %q", r, key)
		}
		got, err := Parse(key, value)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s came back as %+v, %v", value, got, err)
		}
		if r.Type() != "chunk" && !strings.HasPrefix(string(value), `{"type":"`+r.Type()+`","version":1,"epoch":3,"nonce":"01020300`) {
			t.Errorf("%s does not begin with type, version, epoch, nonce", value)
		}
	}
}

// TestRecordsAreSpelledSo compares the records with transcripts on which other
// programs may rely.
func TestRecordsAreSpelledSo(t *testing.T) {
	for _, r := range records(t) {
		name := r.Type()
		if c, ok := r.(*Claim); ok && c.Writer != "" {
			name = "claim of this release"
		}
		want, ok := map[string]string{
			"claim":                 `{"type":"claim","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","host":"a \"host\" <1>"}`,
			"claim of this release": `{"type":"claim","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","host":"b","topic_id":"AQAAAAAAAAAAAAAAAAAA_w","arithmetic":2,"decoder":1,"writer":"1.2.3"}`,
			"genesis":               `{"type":"genesis","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","model":"fraud","topic_id":"AQAAAAAAAAAAAAAAAAAA_w","seq":7,"arithmetic":2,"decoder":1,"writer":"1.2.3"}`,
			"rollback":              `{"type":"rollback","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":25,"chain":"b79a2d21bdbd30d2cf2dbb0fa69578172d814cae5138a996ada1045d1a864df4","to_seq":18,"to_chain":"d96d6f99172d3f6bc8b56af395d586381aadd0ce3d8b05ce3b71bc11e08e0580","reason":"a bad day","by":"ann@host"}`,
			"adopt":                 `{"type":"adopt","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":26,"chain":"385a1f70421a4293dc1b1e9b45b7337afdc7b6f90ba22e9f15adcce1cf735456","inputs":[{"topic":"payments","topic_id":"AQAAAAAAAAAAAAAAAAAA_w","new_id":"AgAAAAAAAAAAAAAAAAAAAA","partitions":[{"partition":0,"from":1005,"next":5,"fingerprint":"18446744073709551615"},{"partition":10,"from":1,"next":0,"fingerprint":"0"}]},{"topic":"refunds","topic_id":"AQAAAAAAAAAAAAAAAAAA_w","new_topic":"eu.refunds","new_id":"AwAAAAAAAAAAAAAAAAAAAA","partitions":[{"partition":1,"from":9,"next":11,"fingerprint":"0"}]}],"by":"ann@host"}`,
			"upgrade":               `{"type":"upgrade","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":27,"chain":"1341947babe90c9ef332e9c839718d1f46008a404611c19350f6c3a07011264b","arithmetic":2,"decoder":1,"writer":"1.2.3"}`,
			"partitions":            `{"type":"partitions","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","topic":"payments","topic_id":"AQAAAAAAAAAAAAAAAAAA_w","count":12}`,
			"config":                `{"type":"config","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","hash":"b79606fb3afea5bd1609ed40b622142f1c98125abcfe89a76a661b0e8e343910","config":{"a":"<&>","b":[1,2e3]}}`,
			"batch":                 `{"type":"batch","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":18,"chain":"d96d6f99172d3f6bc8b56af395d586381aadd0ce3d8b05ce3b71bc11e08e0580","ranges":[{"topic":"payments","topic_id":"AQAAAAAAAAAAAAAAAAAA_w","partition":0,"from":5,"to":1005,"records":999,"digest":"18446744073709551615"},{"topic":"payments","topic_id":"AQAAAAAAAAAAAAAAAAAA_w","partition":10,"from":0,"to":1,"records":0,"digest":"0"}],"counts":{"learned":900,"predicted":90,"quarantined":9,"skipped":0}}`,
			"gap":                   `{"type":"gap","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":19,"chain":"f7b5f002d6370bff22bbc2a328c8d8b9dd0578aec3f4162b2565a1e5f63f04f8","topic":"payments","topic_id":"AQAAAAAAAAAAAAAAAAAA_w","partition":1,"from":7,"to":9}`,
			"released":              `{"type":"released","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":17}`,
			"pause":                 `{"type":"pause","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":19,"bad":501,"of":1000,"reason":"not \"JSON\""}`,
			"resume":                `{"type":"resume","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":19,"by":"ann@host"}`,
			"manifest":              `{"type":"manifest","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","snapshot":"c55d5ee326455557de3fe91fc20cab60","model":"fraud","seq":17,"step":12,"chain":"9414886b1ebf025db067a4cbd13a0903fbd9733a5372bba1b58bd72c1699b798","lineage":"0713f136ea316c8f3e274d55012e3bf10d05b5263837187a39593ff0d8838dfa","state_hash":"20cc91e8695a1b173124291d2d5855bff8d206b44b5b6020b976ca84054a58a4","size":1776,"sha256":"c55d5ee326455557de3fe91fc20cab60c166f20a976cadeaa12b5b9a00b3f62f","serving_size":1376,"serving_sha256":"3d8a30c0e9d8760e961c817461e46399f0825eedd35d67766aab5c749caff3e4","chunks":1,"chunk_size":716800,"first_chunk":9,"previous":-1,"start":{"offset":5,"epoch":3,"nonce":"01020300000000000000000000000000"},"config_hash":"b79606fb3afea5bd1609ed40b622142f1c98125abcfe89a76a661b0e8e343910","config":{"learner":{"kernel":"gaussian:2.5","seed":1}}}`,
			"challenger":            `{"type":"challenger","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","snapshot":"c55d5ee326455557de3fe91fc20cab60","model":"fraud","seq":17,"step":12,"chain":"9414886b1ebf025db067a4cbd13a0903fbd9733a5372bba1b58bd72c1699b798","lineage":"0713f136ea316c8f3e274d55012e3bf10d05b5263837187a39593ff0d8838dfa","state_hash":"20cc91e8695a1b173124291d2d5855bff8d206b44b5b6020b976ca84054a58a4","size":1776,"sha256":"c55d5ee326455557de3fe91fc20cab60c166f20a976cadeaa12b5b9a00b3f62f","serving_size":1376,"serving_sha256":"3d8a30c0e9d8760e961c817461e46399f0825eedd35d67766aab5c749caff3e4","chunks":1,"chunk_size":716800,"first_chunk":9,"previous":-1,"start":{"offset":5,"epoch":3,"nonce":"01020300000000000000000000000000"},"config_hash":"b79606fb3afea5bd1609ed40b622142f1c98125abcfe89a76a661b0e8e343910","config":{"learner":{"kernel":"gaussian:2.5","seed":1}},"refit":{"rows":4096,"from_seq":3,"loss":"square","lambda":0.00003,"asked":0.001,"relative_gap":0.0005,"gap":0.00025,"bound":4,"passes":7,"suboptimality":0.25}}`,
		}[name]
		if _, value, _ := Encode(r); ok != (name != "chunk") || ok && string(value) != want {
			t.Errorf("%s:\n%s, want\n%s", r.Type(), value, want)
		}
	}
}

func TestParseRefusesBadRecords(t *testing.T) {
	good := `{"type":"released","version":1,"epoch":3,"nonce":"01020300000000000000000000000000","seq":17}`
	if _, err := Parse([]byte("released"), []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key, old, new string
		want          error
	}{
		{"batch", "", "", snapshot.ErrCorrupt},
		{"", "", "", snapshot.ErrCorrupt},
		{"released", good, "", snapshot.ErrCorrupt},
		{"released", good, "null", snapshot.ErrCorrupt},
		{"released", good, "[]", snapshot.ErrCorrupt},
		{"released", good, "\x89ACK", snapshot.ErrTruncated},
		{"released", `}`, `} x`, snapshot.ErrCorrupt},
		{"released", `"version":1`, `"version":2`, snapshot.ErrTooNew},
		{"released", `"version":1`, `"version":0`, snapshot.ErrCorrupt},
		{"released", `"version":1`, `"version":1.5`, snapshot.ErrCorrupt},
		{"released", `"released"`, `"relaxed"`, snapshot.ErrCorrupt},
		{"chunk", `"released"`, `"chunk"`, snapshot.ErrCorrupt},
		{"released", `"epoch":3`, `"epoch":0`, snapshot.ErrCorrupt},
		{"released", `"epoch":3`, `"epoch":9223372036854775808`, snapshot.ErrCorrupt},
		{"released", `"010203`, `"000000`, snapshot.ErrCorrupt},
		{"released", `"010203`, `"01020`, snapshot.ErrCorrupt},
		{"released", `"010203`, `"01020g`, snapshot.ErrCorrupt},
		{"released", `"seq":17`, `"seq":0`, snapshot.ErrCorrupt},
		{"released", `"seq":17`, `"seq":"17"`, snapshot.ErrCorrupt},
		{"released", `"seq":17`, `"x":"` + strings.Repeat("y", maxRecord) + `"`, snapshot.ErrLimit},
	} {
		value := strings.Replace(good, c.old, c.new, 1)
		if _, err := Parse([]byte(c.key), []byte(value)); !errors.Is(err, c.want) || !typed(err) {
			t.Errorf("%q: %.200q: %v, want %v", c.key, value, err, c.want)
		}
	}
}

func TestEncodeRefusesWhatParseWould(t *testing.T) {
	for name, do := range map[string]func(b *Batch){
		"no claim":         func(b *Batch) { b.Epoch = 0 },
		"no nonce":         func(b *Batch) { b.Nonce = snapshot.ID{} },
		"no ranges":        func(b *Batch) { b.Ranges = nil },
		"empty range":      func(b *Batch) { b.Ranges[0].To = b.Ranges[0].From },
		"too many records": func(b *Batch) { b.Ranges[1].Records = 2 },
		"order":            func(b *Batch) { b.Ranges[0].Partition = 11 },
		"overlap":          func(b *Batch) { b.Ranges[1].Partition = 0; b.Ranges[1].From = 1004; b.Ranges[1].To = 1006 },
		"topic":            func(b *Batch) { b.Ranges[0].Topic = "a\x1bb" },
		"negative count":   func(b *Batch) { b.Counts.Skipped = -1 },
	} {
		b := *records(t)[2].(*Batch)
		b.Ranges = slices.Clone(b.Ranges)
		do(&b)
		if _, _, err := Encode(&b); err == nil {
			t.Errorf("%s: encoded", name)
		}
	}
	c := &Config{Owner: anyone, Config: json.RawMessage(`{"a": 1}`)}
	if _, _, err := Encode(c); err == nil {
		t.Error("a configuration with space would not come back as it was")
	}
}

func TestChainCoversTheDecisionAndNotItsWriter(t *testing.T) {
	batch := func() *Batch {
		b := *records(t)[2].(*Batch)
		b.Ranges = slices.Clone(b.Ranges)
		return &b
	}
	want := NextChain(snapshot.Hash{}, batch())
	for name, do := range map[string]func(b *Batch){
		"seq":       func(b *Batch) { b.Seq++ },
		"topic":     func(b *Batch) { b.Ranges[0].Topic = "payment" },
		"topic id":  func(b *Batch) { b.Ranges[0].TopicID[3]++ },
		"partition": func(b *Batch) { b.Ranges[1].Partition++ },
		"from":      func(b *Batch) { b.Ranges[0].From-- },
		"to":        func(b *Batch) { b.Ranges[0].To++ },
		"records":   func(b *Batch) { b.Ranges[0].Records-- },
		"digest":    func(b *Batch) { b.Ranges[0].Digest-- },
		"range":     func(b *Batch) { b.Ranges = b.Ranges[:1] },
		"counts":    func(b *Batch) { b.Counts.Learned--; b.Counts.Predicted++ },
	} {
		b := batch()
		do(b)
		if NextChain(snapshot.Hash{}, b) == want {
			t.Errorf("%s: same chain", name)
		}
	}
	b := batch()
	b.Epoch, b.Nonce, b.Chain = 99, snapshot.ID{9}, snapshot.Hash{9}
	if NextChain(snapshot.Hash{}, b) != want || NextChain(snapshot.Hash{1}, b) == want {
		t.Error("the chain depends on the writer, or not on the one before")
	}
}

// The other decisions are covered member by member: a change of any member,
// except writer, reason, columns and output, which do not affect what is learned, changes the chain.
func TestChainCoversEveryMemberOfADecision(t *testing.T) {
	spared := []string{"Owner", "Chain", "Columns", "Output", "Reason", "By", "Writer", "Signed"}
	for _, r := range records(t) {
		if _, ok := behind(0, r); !ok {
			continue
		}
		v := reflect.ValueOf(r).Elem()
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Field(i).Name
			each := func(change func(f reflect.Value)) {
				before := NextChain(snapshot.Hash{}, r)
				old := reflect.New(f.Type()).Elem()
				old.Set(f)
				change(f)
				if same := NextChain(snapshot.Hash{}, r) == before; same != slices.Contains(spared, name) {
					t.Errorf("%s %s: same chain: %v", r.Type(), name, same)
				}
				f.Set(old)
			}
			leaves(f, each)
		}
	}
}

// leaves calls each with a change of every single value in f.
func leaves(f reflect.Value, each func(change func(reflect.Value))) {
	switch f.Kind() {
	case reflect.Struct:
		for i := range f.NumField() {
			leaves(f.Field(i), func(change func(reflect.Value)) { each(func(f reflect.Value) { change(f.Field(i)) }) })
		}
	case reflect.Slice:
		for i := range f.Len() {
			leaves(f.Index(i), func(change func(reflect.Value)) {
				each(func(f reflect.Value) {
					f.Set(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, 0), f))
					change(f.Index(i))
				})
			})
		}
		each(func(f reflect.Value) { f.Set(reflect.Append(f, reflect.Zero(f.Type().Elem()))) })
	case reflect.Array:
		each(func(f reflect.Value) { f.Index(3).SetUint(f.Index(3).Uint() + 1) })
	case reflect.String:
		each(func(f reflect.Value) { f.SetString(f.String() + "x") })
	case reflect.Int, reflect.Int32, reflect.Int64:
		each(func(f reflect.Value) { f.SetInt(f.Int() + 1) })
	case reflect.Uint8, reflect.Uint64:
		each(func(f reflect.Value) { f.SetUint(f.Uint() + 1) })
	case reflect.Pointer:
		each(func(f reflect.Value) { f.Set(reflect.New(f.Type().Elem())) })
	default:
		panic(f.Kind())
	}
}

// pieces returns a file, its chunks of 100 bytes, encoded, and its manifest.
func pieces(t testing.TB) (file []byte, values [][]byte, m *Manifest) {
	t.Helper()
	file = encode(t, sample())
	chunks, m, err := Split(file, anyone, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		_, v, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return file, values, m
}

func TestAssembleGivesTheFile(t *testing.T) {
	file, values, m := pieces(t)
	got, err := Assemble(m, values, 0)
	if err != nil || !bytes.Equal(got, file) {
		t.Errorf("assembled %d bytes of %d, %v", len(got), len(file), err)
	}
	n := m.ServingChunks()
	if n >= m.Chunks {
		t.Errorf("the serving part takes %d of %d chunks", n, m.Chunks)
	}
	got, err = AssembleServing(m, values[:n], 0)
	if err != nil || !bytes.Equal(got, file[:m.ServingSize]) {
		t.Errorf("assembled %d bytes of %d, %v", len(got), m.ServingSize, err)
	}
	if _, err := snapshot.DecodeServing(got, 0); err != nil {
		t.Error(err)
	}
}

func TestAssembleRefusesEveryDamage(t *testing.T) {
	file, values, m := pieces(t)
	refused := func(name string, values [][]byte, want error) {
		t.Helper()
		if b, err := Assemble(m, values, 0); b != nil || !errors.Is(err, want) || !typed(err) {
			t.Errorf("%s: %d bytes, %v, want %v", name, len(b), err, want)
		}
	}
	for i := range values {
		refused("missing", slices.Delete(slices.Clone(values), i, i+1), snapshot.ErrTruncated)
		twice := slices.Insert(slices.Clone(values), i, values[i])
		refused("twice", twice, snapshot.ErrMismatch)
		if i < len(values)-1 {
			refused("shifted", twice[:len(values)], snapshot.ErrMismatch)
		}
		if i > 0 {
			swapped := slices.Clone(values)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			refused("swapped", swapped, snapshot.ErrMismatch)
		}
		for j := range values[i] {
			bad := slices.Clone(values)
			bad[i] = bytes.Clone(values[i])
			bad[i][j] ^= 1 << (j % 8)
			refused("flipped", bad, snapshot.ErrCorrupt)
			bad[i] = values[i][:j]
			if b, err := Assemble(m, bad, 0); b != nil || !typed(err) {
				t.Errorf("chunk %d cut to %d bytes: %d bytes, %v", i, j, len(b), err)
			}
		}
	}
	other := sample()
	other.Info.Time++
	for name, o := range map[string]struct {
		s *snapshot.Snapshot
		o Owner
	}{"of another snapshot": {other, anyone}, "of another claim": {sample(), Owner{Epoch: 4, Nonce: anyone.Nonce}}} {
		chunks, _, err := Split(encode(t, o.s), o.o, 100)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range chunks {
			_, v, _ := Encode(c)
			foreign := slices.Clone(values)
			foreign[i] = v
			refused(name, foreign, snapshot.ErrMismatch)
		}
	}
	// A chunk with wrong bytes and a correct checksum.
	chunks, _, _ := Split(bytes.Clone(file), anyone, 100)
	for i, c := range chunks {
		c.Data[50%len(c.Data)]++
		_, v, _ := Encode(c)
		forged := slices.Clone(values)
		forged[i] = v
		refused("forged", forged, snapshot.ErrCorrupt)
		if n := m.ServingChunks(); i < n-1 {
			if b, err := AssembleServing(m, forged[:n], 0); b != nil || !errors.Is(err, snapshot.ErrCorrupt) {
				t.Errorf("forged chunk %d in the serving part: %v", i, err)
			}
		}
	}
	// The right bytes, split at other places.
	shifted := slices.Clone(values)
	a, b := *chunks[0], *chunks[1]
	a.Data, b.Data = file[:99], file[99:200]
	_, shifted[0], _ = Encode(&a)
	_, shifted[1], _ = Encode(&b)
	refused("cut otherwise", shifted, snapshot.ErrMismatch)
	if _, err := Assemble(m, values, m.Size-1); !errors.Is(err, snapshot.ErrLimit) {
		t.Errorf("over the limit: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, r := range records(f) {
		key, value, _ := Encode(r)
		f.Add(key, value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		NewFold(0, 1).Add(0, key, value)
		r, err := Parse(key, value)
		if err != nil {
			if !typed(err) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		_ = r.String()
		key2, value2, err := Encode(r)
		if err != nil {
			t.Fatalf("Encode refuses what Parse accepts: %v", err)
		}
		again, err := Parse(key2, value2)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v came back as %+v, %v", r, again, err)
		}
	})
}
