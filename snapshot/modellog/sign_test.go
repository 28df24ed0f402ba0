package modellog

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/snapshot"
)

func testKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))
}

func TestSignatureCoversEveryField(t *testing.T) {
	rs := records(t)
	m := rs[len(rs)-3].(*Manifest)
	key := testKey(1)
	public := key.Public().(ed25519.PublicKey)
	if err := m.Verify(public); !errors.Is(err, ErrSignature) {
		t.Errorf("without a signature: %v", err)
	}
	if err := m.Sign(key); err != nil {
		t.Fatal(err)
	}
	k, v, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(k, v)
	if err != nil {
		t.Fatal(err)
	}
	got := r.(*Manifest)
	if err := got.Verify(public); err != nil {
		t.Errorf("as it was signed: %v", err)
	}
	if err := got.Verify(testKey(2).Public().(ed25519.PublicKey)); !errors.Is(err, ErrSignature) {
		t.Errorf("under another key: %v", err)
	}
	typ := reflect.TypeFor[Manifest]()
	for i := range typ.NumField() {
		c := *got
		f := reflect.ValueOf(&c).Elem().Field(i)
		switch x := f.Addr().Interface().(type) {
		case *Owner:
			x.Epoch++
		case *snapshot.ID:
			x[0]++
		case *snapshot.Hash:
			x[31]++
		case *string:
			*x += "x"
		case *int64:
			*x++
		case *int:
			*x++
		case *Place:
			x.Offset++
		case *json.RawMessage:
			*x = json.RawMessage(`{"other":1}`)
		case **AbsentColumns:
			*x = &AbsentColumns{Gone: []string{"a"}}
		case **Gate:
			*x = &Gate{Metric: "loss", Rows: 1, Champion: testRef}
		case **Choice:
			*x = &Choice{Mode: Hold, Snapshot: testRef}
		case **Origin:
			*x = &Origin{Versions: Versions{1, 1}}
		case **timeline.Timeline:
			*x = &timeline.Timeline{Every: 64}
		case *Signed:
			x.Signature = slices.Clone(x.Signature)
			x.Signature[0]++
		default:
			t.Fatalf("the test does not know how to change %s", typ.Field(i).Name)
		}
		if err := c.Verify(public); err == nil {
			t.Errorf("%s can be changed under the signature", typ.Field(i).Name)
		}
	}
}

func TestSignatureOfAChallengerCoversItsRefit(t *testing.T) {
	rs := records(t)
	c := rs[len(rs)-1].(*Challenger)
	key := testKey(1)
	public := key.Public().(ed25519.PublicKey)
	if err := c.Verify(public); !errors.Is(err, ErrSignature) {
		t.Errorf("without a signature: %v", err)
	}
	if err := c.Sign(key); err != nil {
		t.Fatal(err)
	}
	if err := c.Verify(public); err != nil {
		t.Errorf("as it was signed: %v", err)
	}
	if err := c.Manifest.Verify(public); !errors.Is(err, ErrSignature) {
		t.Errorf("as a manifest: %v", err)
	}
	for _, change := range []func(c *Challenger){
		func(c *Challenger) { c.SHA256[31]++ },
		func(c *Challenger) { c.Refit.Rows++ },
		func(c *Challenger) { c.Refit.Gap /= 2 },
		func(c *Challenger) { c.Refit.Suboptimality = nil },
	} {
		other := *c
		change(&other)
		if err := other.Verify(public); !errors.Is(err, ErrSignature) {
			t.Errorf("changed under the signature: %+v", other)
		}
	}
}
