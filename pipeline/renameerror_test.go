package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// generated are streams of independent normal inputs whose labels depend on the column x0, among
// others.
var generated = []struct {
	name    string
	columns int
	label   func(r *rand.Rand, x []float64) string
}{
	{"sine and product", 3, func(r *rand.Rand, x []float64) string {
		return fmt.Sprintf(`"%v"`, math.Sin(2*x[1])+x[0]*x[2]+0.5*r.NormFloat64() > 0.3)
	}},
	{"Friedman 1", 10, func(r *rand.Rand, x []float64) string {
		u := func(i int) float64 { return 0.5 * (1 + math.Erf(x[i]/math.Sqrt2)) }
		return fmt.Sprint(10*math.Sin(math.Pi*u(1)*u(2)) + 20*(u(3)-0.5)*(u(3)-0.5) + 10*u(0) + 5*u(4) + r.NormFloat64())
	}},
	{"logistic", 8, func(r *rand.Rand, x []float64) string {
		return fmt.Sprintf(`"%v"`, 1/(1+math.Exp(x[1]-2*x[0]-0.5*x[2]-0.5*x[3])) > r.Float64())
	}},
}

// TestTheErrorAroundARename renames a column in the middle of streams, and prints the error before,
// on the rows without the column, and after its new name is found, where it may be a tenth more
// than before or than if the column was never renamed.
func TestTheErrorAroundARename(t *testing.T) {
	if *adoptionRows == 0 {
		t.Skip("it takes minutes: -adoption 16000")
	}
	fmt.Println("| stream | 2,000 rows before | 200 rows from the rename on | 2,000 rows after these | these rows, never renamed | read by its new name from row |")
	for _, s := range generated {
		rows := func(renamed string) (out []string) {
			r := rand.New(rand.NewPCG(5, 6))
			for i := range *adoptionRows {
				x := make([]float64, s.columns)
				var fields []string
				for j := range x {
					x[j] = r.NormFloat64()
					name := fmt.Sprintf("x%d", j)
					if j == 0 && i >= *adoptionRows/2 {
						name = renamed
					}
					fields = append(fields, fmt.Sprintf("%q:%v", name, x[j]))
				}
				out = append(out, fmt.Sprintf(`{%s,"label":%s}`, strings.Join(fields, ","), s.label(r, x)))
			}
			return out
		}
		adopts, never := courseOf(t, rows("renamed")), courseOf(t, rows("x0"))
		half := int64(*adoptionRows / 2)
		if adopts.renamed == 0 {
			t.Errorf("%s: the new name is never found", s.name)
			continue
		}
		from := half + 200
		before, after, same := adopts.mean(half-2000, half), adopts.mean(from, from+2000), never.mean(from, from+2000)
		fmt.Printf("|%s|%.4g|%.4g|%.4g|%.4g|%d|\n", s.name, before, adopts.mean(half, from), after, same, adopts.renamed-half)
		if after > 1.1*max(before, same) {
			t.Errorf("%s: the error is %v, %v before, %v if the column was never renamed", s.name, after, before, same)
		}
	}
}

// courseOf returns the errors of a learner of rows with the field label, which adopts columns.
func courseOf(t *testing.T, rows []string) (c course) {
	client, in := kafkatest.Client(t), kafkatest.Name("renamed")
	kafkatest.Fill(t, client, in, 1, rows)
	cfg, _ := learntest.Config(client, "adopts", in)
	cfg.Linger = time.Second
	cfg.Learner = learner.Config{Mixture: true, MaxFeatures: 512}
	cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Unknown: "ignore", Adopt: true, Renames: true}
	cfg.Report = func(e event.Event) { c.add(e) }
	learnAll(t, cfg)
	return c
}
