package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// deployed returns records of a producer that gets another version twice: column z appears
// with record 600, and y is called v, with numbers instead of text, from record 4000 on. The
// class depends on all of them.
func deployed(n int) []string {
	rng := rand.New(rand.NewPCG(5, 6))
	out := make([]string, n)
	for i := range out {
		x, z, y := rng.NormFloat64(), rng.NormFloat64(), rng.IntN(3)
		label := fmt.Sprintf(`,"label":"%v"`, math.Hypot(x, 1.5*z)+0.3*float64(y) > 1.4)
		if i%50 == 49 {
			label = ""
		}
		v := fmt.Sprintf(`{"x":%v,"y":"k%d"%s`, x, y, label)
		if i >= 4000 {
			v = fmt.Sprintf(`{"x":%v,"v":%d%s`, x, y, label)
		}
		if i >= 600 {
			v += fmt.Sprintf(`,"z":%v`, z)
		}
		out[i] = v + "}"
	}
	return out
}

func adoptingColumns(c model.Config) model.Config {
	c.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Adopt: true}
	c.OnChange = "adopt"
	return c
}

// A learner that adopts columns reaches the same state whatever the BATCHes are and wherever it
// is started again; verify passes across the adoptions, and the model predicts with the columns.
func TestAdoptedColumnsFollowFromTheRecords(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("deployed")
	values := deployed(5000)
	kafkatest.Fill(t, c, in, 1, values[:690])
	var want snapshot.Hash
	cfg, ev := learntest.Config(c, "stopped", in)
	cfg = adoptingColumns(cfg)
	for i, to := range []int{690, 750, 2500, 4050, 5000} {
		if i > 0 {
			kafkatest.Fill(t, c, in, 1, values[[]int{0, 690, 750, 2500, 4050}[i]:to])
		}
		cfg.BatchSize = 100 - 7*i
		learnAll(t, cfg)
	}
	want = learntest.FinalHash(t, ev)
	whole, all := learntest.Config(c, "whole", in)
	whole = adoptingColumns(whole)
	whole.BatchSize = 1000
	learnAll(t, whole)
	if got := learntest.FinalHash(t, all); got != want {
		t.Errorf("state hash %v at once, %v with restarts", got, want)
	}
	read := map[string][]string{}
	predicted := func(name string) (values []string) {
		if read[name] != nil {
			return read[name]
		}
		for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(name)) {
			values = append(values, strings.Replace(string(r.Value), name, "m", 1))
		}
		read[name] = values
		return values
	}
	if a, b := predicted(cfg.Model), predicted(whole.Model); !slices.Equal(a, b) || len(a) != len(values) {
		t.Errorf("%d predictions with restarts, %d at once, or others", len(a), len(b))
	}
	for _, c := range []model.Config{cfg, whole} {
		if v, err := audit.Verify(t.Context(), c); err != nil || v.Divergent != 0 {
			t.Errorf("verify: %s, %v", fmt.Sprint(v), err)
		}
	}
	provesWith(t, whole, in, map[int]int{650: 2, 4000: 3, 4990: 3})
	if rows, schema, err := LastLearned(t.Context(), whole, len(values)); err != nil || rows.Len() != 4900 || rows.Dim() != len(schema.Columns) {
		t.Errorf("rows that were learned last: %v, %v", rows, err)
	}
	if s, ok := learntest.Last[event.Succeeded](all); !ok || s.Loss >= s.Other || !slices.Contains(s.Columns, "z") {
		t.Errorf("%+v: the model with column z does not predict", s)
	}
	got, ok := learntest.Last[event.Learned](all)
	if !ok || got.Progress.Examples != 4900 || got.Progress.Latest.Model.Error > 0.15 {
		t.Errorf("%d examples learned, with an error of %v", got.Progress.Examples, got.Progress.Latest.Model.Error)
	}

	// Until the other model predicts, an adoption changes no prediction.
	const still = 2700
	first := kafkatest.Name("first")
	kafkatest.Fill(t, c, first, 1, values[:still])
	plain, _ := learntest.Config(c, "plain", first)
	plain = adoptingColumns(plain)
	plain.Decode.Adopt, plain.Decode.Unknown, plain.BatchSize = false, "ignore", 1000
	learnAll(t, plain)
	for i, r := range kafkatest.Read(t, c, model.PredictionsTopic(plain.Model)) {
		want, _, _ := strings.Cut(string(r.Value), `"model"`)
		if !strings.HasPrefix(predicted(whole.Model)[i], want) {
			t.Fatalf("prediction %d is %s, want %s without the adoption", i, predicted(whole.Model)[i], want)
		}
	}
}

// provesWith has the predictions of some records computed again, and checks how many columns the
// model had that made them.
func provesWith(t *testing.T, c model.Config, in string, columns map[int]int) {
	t.Helper()
	c.Report = func(event.Event) {}
	for offset, want := range columns {
		got, err := audit.Prove(t.Context(), c, []string{fmt.Sprintf("%s-0-%d", in, offset)})
		if err != nil || !got[0].Equal || len(got[0].Input.Columns) != want {
			t.Errorf("record %d, of a model with %d columns: %v, %v", offset, want, got, err)
		}
	}
}

// Windows and pairs stay as they are when other columns are adopted, or when their fields have
// values of another type.
func TestAdoptionLeavesWindowsAndPairsAlone(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("windows")
	rng := rand.New(rand.NewPCG(7, 8))
	var values []string
	for i := range 400 {
		x, z := rng.NormFloat64(), ""
		amount := fmt.Sprint(x)
		if i >= 50 {
			z = `,"z":1`
		}
		if i >= 100 && i < 250 {
			amount = `"free"`
		}
		values = append(values, fmt.Sprintf(`{"card":"c%d","shop":"s%d","amount":%s,"label":%v%s}`, rng.IntN(5), rng.IntN(3), amount, x > 0, z))
	}
	cfg, _ := learntest.Config(c, "m", in)
	cfg = adoptingColumns(cfg)
	cfg.Decode.Types = map[string]string{"card*shop": schema.Pair}
	cfg.Decode.Windows = []decode.Window{{Key: "card", Of: "amount", Over: []string{"1h"}, Features: []string{"mean"}}}
	cfg.BatchSize = 70
	for from := range 2 {
		kafkatest.Fill(t, c, in, 1, values[from*200:(from+1)*200])
		learnAll(t, cfg)
	}
	if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); n != 150 {
		t.Errorf("%d records in quarantine, want the 150 without an amount", n)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	const columns = 5 // amount, card, card*shop, shop and the mean
	provesWith(t, cfg, in, map[int]int{20: columns, 299: columns, 398: columns})
}
