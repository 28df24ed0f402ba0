package offline

import (
	"fmt"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/synth/payments"
	"github.com/accrete-ml/accrete/learner"
)

// The amount of a payment says little about fraud, and what its card did before says more:
// windows lift the AUC from under 0.7 to over 0.9.
func TestWindowsTellFraudApart(t *testing.T) {
	const rows = 9000
	auc := func(windows []decode.Window) float64 {
		in := decode.Config{
			Label: "fraud", Infer: true, Missing: "impute", Types: map[string]string{"card": "id", "merchant": "id", "at": "id"},
			Windows: windows,
		}
		if windows == nil {
			in.Types["at"] = "ignored"
		}
		d, err := decode.New(in, decode.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		fit, err := NewFit(learner.Config{Kernel: "gaussian:2", MaxFeatures: 128, BlockSize: 32}, in)
		if err != nil {
			t.Fatal(err)
		}
		s := payments.New(1)
		for range rows {
			p := s.Next()
			row, err := d.Decode(fmt.Appendf(nil, `{"at":%d,"card":"c%d","merchant":"m%d","amount":%v,"fraud":%v}`, int64(p.At), p.Card, p.Merchant, p.Amount, p.Fraud))
			if err != nil {
				t.Fatal(err)
			}
			fit.Add(row)
		}
		fit.Finish()
		return fit.Figures(0.9).AUC
	}
	without := auc(nil)
	with := auc([]decode.Window{{Key: "card", Of: "amount", Distinct: "merchant", Time: "at", Over: []string{"6h", "30d"}}})
	if without > 0.7 || with < 0.9 {
		t.Errorf("AUC %.3f without windows and %.3f with them, want under 0.7 and over 0.9", without, with)
	}
}
