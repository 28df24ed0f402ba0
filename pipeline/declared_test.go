package pipeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// newNames are declared for records of shopping.
var newNames = []decode.Rename{{Column: "amount", Field: "total"}, {Column: "card", Field: "pan"}, {Column: "shop", Field: "place"}}

// shopping returns records whose class depends on fields that a window and a pair use. From record
// at on, some of them have new names.
func shopping(n, at int) (out []string) {
	rng := rand.New(rand.NewPCG(4, 18))
	for i := range n {
		amount, card, shop, z := rng.NormFloat64(), rng.IntN(7), rng.IntN(4), rng.NormFloat64()
		v := fmt.Sprintf(`{"amount":%v,"card":"c%d","shop":"s%d","kind":"k%d","z":%v,"at":%d,"label":"%v"}`, amount, card, shop, i%3, z, 1704067200+i, amount+float64(shop*(i%3))+.2*z > 1)
		if i >= at {
			for _, r := range newNames {
				v = strings.Replace(v, `"`+r.Column+`":`, `"`+r.Field+`":`, 1)
			}
		}
		out = append(out, v)
	}
	return out
}

// published returns what a model has predicted of each record, and its loss.
func published(t *testing.T, c model.Config) (all []string) {
	for _, r := range kafkatest.Read(t, c.Client, model.PredictionsTopic(c.Model)) {
		var p struct {
			Probabilities any
			Loss          any
		}
		if err := json.Unmarshal(r.Value, &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%+v", p))
	}
	return all
}

// Where the new names are declared when the records have them, no prediction is another one than
// if the columns had never been renamed, from the first such record on, and whether the learner
// is started again; verify and prove come to the same predictions. If the renames are removed
// again, later BATCHes are read without them, and earlier ones still with them.
func TestADeclaredRenameChangesNoPrediction(t *testing.T) {
	for name, adopts := range map[string]bool{"fixed columns": false, "adopted columns": true} {
		t.Run(name, func(t *testing.T) {
			c := kafkatest.Client(t)
			learns := func(in, name string) (model.Config, *learntest.Events) {
				cfg, ev := learntest.Config(c, name, in)
				cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Types: map[string]string{"card": "id", "at": "ignored", "shop*kind": schema.Pair}}
				cfg.Decode.Windows = []decode.Window{{Key: "card", Of: "amount", Time: "at", Over: []string{"1h"}, Features: []string{"mean", "count"}}}
				cfg.Decode.Adopt, cfg.Decode.Renames = adopts, adopts
				return cfg, ev
			}
			never, same := kafkatest.Name("never"), kafkatest.Name("renamed")
			kafkatest.Fill(t, c, never, 1, shopping(900, 900))
			want, _ := learns(never, "want")
			learnAll(t, want)

			cfg, ev := learns(same, "got")
			values := shopping(900, 600)
			for i, cut := range [][2]int{{0, 400}, {400, 610}, {610, 900}} {
				if i > 0 {
					cfg.Renames = newNames
				}
				kafkatest.Fill(t, c, same, 1, values[cut[0]:cut[1]])
				cfg.BatchSize = 100 - 17*i
				learnAll(t, cfg)
			}
			if a, b := published(t, cfg), published(t, want); !slices.Equal(a, b) || len(a) != len(values) {
				t.Errorf("%d predictions with new names, %d without, or others", len(a), len(b))
			}
			if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); n > 0 {
				t.Errorf("%d records in quarantine", n)
			}
			if e, ok := learntest.Last[event.Renamed](ev); !ok || len(e.Aliases) != len(newNames) || !e.Aliases[0].Declared {
				t.Errorf("reported %+v", e)
			}
			cfg.Renames = newNames[:1]
			kafkatest.Fill(t, c, same, 1, shopping(1000, 1000)[900:])
			learnAll(t, cfg)
			cfg.Renames = nil // as in the configuration of who verifies, which does not count
			if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
				t.Errorf("verify: %s, %v", fmt.Sprint(v), err)
			}
			if got, err := audit.Prove(t.Context(), cfg, []string{same + "-0-599", same + "-0-600", same + "-0-950"}); err != nil || !got[0].Equal || !got[1].Equal || !got[2].Equal {
				t.Errorf("prove: %v, %v", got, err)
			}
		})
	}
}

// Records with a new name go to quarantine until it is declared, and are not learned later, also
// where rows are read again. A learner does not start if its model cannot have a rename.
func TestARenameHoldsFromTheNextBatchOn(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("late")
	values := shopping(150, 50)
	kafkatest.Fill(t, c, in, 1, values[:70])
	cfg, _ := learntest.Config(c, "late", in)
	cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute"}
	learnAll(t, cfg)
	cfg.Renames = newNames
	kafkatest.Fill(t, c, in, 1, values[70:])
	learnAll(t, cfg)
	if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); n != 20 {
		t.Errorf("%d records in quarantine, want 20", n)
	}
	rows, schema, err := LastLearned(t.Context(), cfg, 1000)
	if err != nil || rows.Len() != 130 || len(schema.Aliases) != len(newNames) {
		t.Errorf("%d rows, schema %+v, %v", rows.Len(), schema, err)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
		t.Errorf("verify: %s, %v", fmt.Sprint(v), err)
	}
	if r, err := audit.Rebuild(t.Context(), cfg, []string{"key=none"}, ""); err != nil || r.Removed != 0 || r.StateHash != r.Was {
		t.Errorf("rebuilt without no records: %+v, %v", r, err)
	}
	cfg.Renames = []decode.Rename{{Column: "amuont", Field: "sum"}}
	l, err := Open(t.Context(), cfg)
	if err == nil {
		err = l.Run(t.Context())
	}
	learntest.Wants(t, err, model.ErrOptions, `the model has no column "amuont"`)
}
