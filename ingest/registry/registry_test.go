package registry

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/accrete-ml/accrete/ingest/decode"
)

const amount = `{"type":"record","name":"a.Amount","fields":[{"name":"value","type":"double"}]}`

func TestASchemaComesWithWhatItRefersTo(t *testing.T) {
	fake := srfake.New()
	defer fake.Close()
	ctx := context.Background()
	c, err := New(Config{URLs: []string{fake.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.sr.CreateSchema(ctx, "amount", sr.Schema{Schema: amount}); err != nil {
		t.Fatal(err)
	}
	made, err := c.sr.CreateSchema(ctx, "payments-value", sr.Schema{
		Schema:     `{"type":"record","name":"a.Payment","fields":[{"name":"amount","type":"a.Amount"},{"name":"fee","type":["null","a.Amount"]}]}`,
		References: []sr.SchemaReference{{Name: "a.Amount", Subject: "amount", Version: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.Latest(ctx, "payments-value")
	if err != nil || w.Type != "AVRO" {
		t.Fatal(w, err)
	}
	if s, err := avro.Parse(w.Text); err != nil || len(s.Root().Fields) != 2 {
		t.Errorf("%s: %v", w.Text, err)
	}
	var asked atomic.Int32
	fake.Intercept(func(http.ResponseWriter, *http.Request) bool { asked.Add(1); return false })
	for range 3 {
		if again, err := c.Writer(ctx, w.ID); err != nil || again != w {
			t.Errorf("%+v, %v", again, err)
		}
	}
	first := asked.Load()
	if c.Writer(ctx, w.ID); asked.Load() != first {
		t.Error("a schema that is known is asked for again")
	}
	if _, err := c.Writer(ctx, "999"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	before := asked.Load()
	if _, err := c.Writer(ctx, "999"); !errors.Is(err, ErrUnknown) || asked.Load() != before {
		t.Error("an unknown schema is asked for again at once:", err)
	}
	id, err := c.Register(ctx, "payments-value", "AVRO", amount)
	again, late := c.Register(ctx, "payments-value", "AVRO", amount)
	if err == nil && (late != nil || again != id) || made.ID == int(id) {
		t.Error(id, again, err, late)
	}
}

// A schema that cannot be compiled is that of its records, which go to quarantine: asking again
// would not change it.
func TestASchemaThatDoesNotCompileIsAnAnswer(t *testing.T) {
	fake := srfake.New()
	defer fake.Close()
	c, err := New(Config{URLs: []string{fake.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := c.sr.CreateSchema(ctx, "amount", sr.Schema{Schema: amount}); err != nil {
		t.Fatal(err)
	}
	for format, s := range map[string]sr.Schema{
		"avro":     {Schema: `{"type":"record","name":"P","fields":[{"name":"amount","type":"a.Missing"}]}`, References: []sr.SchemaReference{{Name: "a.Amount", Subject: "amount", Version: 1}}},
		"protobuf": {Type: sr.TypeProtobuf, Schema: `syntax = "proto3"; message P { Missing amount = 1; }`},
	} {
		made, err := c.sr.CreateSchema(ctx, format+"-value", s)
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.Writer(ctx, strconv.Itoa(made.ID))
		if err != nil || w.Text != s.Schema {
			t.Errorf("%s: %+v, %v", format, w, err)
		}
		d, err := decode.New(decode.Config{Format: format, Label: "y", Framed: true}, decode.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		d.Learn(w)
		if _, err = d.Decode([]byte{0, 0, 0, 0, byte(made.ID), 0, 0}); err == nil || !strings.Contains(err.Error(), "schema "+w.ID+": ") || strings.Contains(err.Error(), "base64") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// A refusal is told apart from an error that may pass.
func TestRefusals(t *testing.T) {
	fake := srfake.New()
	defer fake.Close()
	c, err := New(Config{URLs: []string{fake.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	var answer atomic.Int32
	fake.Intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(int(answer.Load()))
		w.Write([]byte(`{"error_code":1,"message":"no"}`))
		return true
	})
	for code, refused := range map[int]bool{401: true, 403: true, 409: true, 422: true, 408: false, 429: false, 500: false, 503: false} {
		answer.Store(int32(code))
		if _, err := c.Register(context.Background(), "p-value", "AVRO", amount); err == nil || errors.Is(err, ErrRefused) != refused {
			t.Errorf("status %d: %v", code, err)
		}
	}
	fake.Close()
	if _, err := c.Register(context.Background(), "p-value", "AVRO", amount); err == nil || errors.Is(err, ErrRefused) {
		t.Error("unreachable:", err)
	}
}

func TestCredentialsAndPathReachTheRegistry(t *testing.T) {
	fake := srfake.New(srfake.WithAuth("Basic dTpw"))
	defer fake.Close()
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("p\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{URLs: []string{fake.URL()}, Username: "u", PasswordFile: file})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(ctx); err != nil {
		t.Error(err)
	}
	none, _ := New(Config{URLs: []string{fake.URL()}})
	if err := none.Check(ctx); err == nil || !strings.Contains(err.Error(), "credentials") {
		t.Error(err)
	}
	var path atomic.Value
	fake.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		path.Store(r.URL.Path)
		w.Write([]byte("[]"))
		return true
	})
	under, _ := New(Config{URLs: []string{fake.URL() + "/apis/ccompat/v7"}, Username: "u", PasswordFile: file})
	if err := under.Check(ctx); err != nil || path.Load() != "/apis/ccompat/v7/schemas/types" {
		t.Error(path.Load(), err)
	}
	fake.Close()
	if err := c.Check(ctx); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Error(err)
	}
	for _, bad := range []Config{{URLs: []string{"registry:8081"}}, {URLs: []string{"http://u:p@registry"}}, {TokenFile: "x"}, {URLs: []string{"http://r"}, Username: "u"}} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
