package encode

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// FuzzEncoders plans columns of any types on any values. Rows become finite numbers, but for
// values that are missing where none was in the first rows; and state that was saved and
// loaded goes on exactly.
func FuzzEncoders(f *testing.F) {
	for t := range byte(types) {
		f.Add([]byte{t, (t + 1) % byte(types)}, []byte("\x00\x00\x00\x00\x00\x00\xf0\x3f\x01\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00\x00\x00\xf0\x7f\x9a\x99\x99\x99\x99\x99\xb9\x3f"), byte(3))
	}
	f.Add([]byte{byte(types + Category), 0}, make([]byte, 1600), byte(40))
	f.Fuzz(func(t *testing.T, of, values []byte, first byte) {
		d := min(len(of), 16)
		if d == 0 {
			return
		}
		columns := make([]Type, d)
		for j := range columns {
			if columns[j] = Type(of[j] % byte(types)); columns[j] == Category && of[j] >= byte(types) {
				columns[j] = Decayed(1 + int(of[j])/int(types))
			}
		}
		var x []float64
		for ; len(values) >= 8 && len(x) < 100*d; values = values[8:] {
			x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(values)))
		}
		n := len(x) / d
		if x = x[:n*d]; n == 0 {
			return
		}
		labels, weights := make([]target.Label, n), make([]float64, n)
		for i := range labels {
			labels[i], weights[i] = target.Label{Task: target.Classification, Class: i % 3}, 1
		}
		plan := NewPlan(columns, x[:(1+int(first)%n)*d], labels, target.Classification)
		if plan == nil {
			return
		}
		if first%2 == 1 {
			plan.Credit(x[:(1+int(first)%n)*d], labels[:1+int(first)%n])
			plan.Order()
		}
		if first%4 > 1 {
			plan.open(columns, x[:(1+int(first)%n)*d], labels[:1+int(first)%n])
			plan.setWidth()
			plan.Settle(columns)
		}
		e := plan.Start()
		whole := e.Rows(x, labels, weights)
		for i := range n {
			row := whole[i*e.Width() : (i+1)*e.Width()]
			for j := range e.columns {
				c := &e.columns[j]
				w := c.encoder().width(c, &e.prior)
				for _, v := range row[:w] {
					raw := c.kind == asIs || c.kind == asImputed || c.kind == asIndicated // the scaler bounds what they leave as it is
					if !raw && (math.IsNaN(v) || math.IsInf(v, 0)) {
						t.Fatalf("%s: %v becomes %v", c.encoder().name, x[i*d+j], row[:w])
					}
				}
				row = row[w:]
			}
		}
		half := plan.Start()
		got := half.Rows(x[:n/2*d], labels[:n/2], weights[:n/2])
		got = append(got, reload(t, half, d).Rows(x[n/2*d:], labels[n/2:], weights[n/2:])...)
		if !same(got, whole) {
			t.Fatalf("after loading: %v, want %v", got, whole)
		}
	})
}
