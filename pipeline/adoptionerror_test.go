package pipeline

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

var adoptionRows = flag.Int("adoption", 0, "rows of the streams on which the error around an adoption is measured; 0: it is not")

// TestTheErrorAroundAnAdoption has a column appear in the middle of streams of different origin,
// each column in turn, and prints the errors before and after the adoption, and before and after
// the model with the column takes over.
func TestTheErrorAroundAnAdoption(t *testing.T) {
	if *adoptionRows == 0 {
		t.Skip("it takes minutes: -adoption 20000")
	}
	fmt.Println("| stream | column | from row | 1,000 rows before | after the adoption | without it | before the succession | after it | last quarter | without adoption | with the column from the first row |")
	for _, s := range []struct {
		name, label string
		columns     []string
	}{
		{"elec", "y", []string{"nsw_price", "nsw_demand", "vic_price"}},
		{"flights", "arr_delay", []string{"dep_delay", "sched_dep_time", "carrier"}},
		{"generated", "label", []string{"x", "y", "z"}},
	} {
		for _, column := range s.columns {
			for _, start := range []int{0, 4000} {
				measureAdoption(t, s.name, s.label, column, start)
			}
		}
	}
}

// streamed returns rows of a stream as JSON, from one on, in which a column appears at another.
func streamed(t *testing.T, name, column string, start, at int) (rows []string) {
	if name == "generated" {
		rng := rand.New(rand.NewPCG(11, uint64(start)))
		for i := range *adoptionRows {
			x, y, z := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			v := fmt.Sprintf(`{"x":%v,"y":%v,"z":%v,"label":"%v"}`, x, y, z, math.Sin(2*x)+y*z+0.5*rng.NormFloat64() > 0.3)
			rows = append(rows, hidden(v, column, i < at))
		}
		return rows
	}
	f, err := os.Open("../testdata/" + name + ".stream.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(z)
	in.Scan()
	names := strings.Split(in.Text(), ",")
	for skip := start; in.Scan() && len(rows) < *adoptionRows; {
		if skip--; skip >= 0 {
			continue
		}
		var fields []string
		for j, v := range strings.Split(in.Text(), ",") {
			if strings.Trim(v, "0123456789.-") != "" || names[j] == "y" {
				v = fmt.Sprintf("%q", v)
			}
			if v != "" {
				fields = append(fields, fmt.Sprintf("%q:%s", names[j], v))
			}
		}
		rows = append(rows, hidden("{"+strings.Join(fields, ",")+"}", column, len(rows) < at))
	}
	return rows
}

// hidden returns a row without a column.
func hidden(row, column string, hide bool) string {
	from := strings.Index(row, fmt.Sprintf("%q:", column))
	if !hide || from < 0 {
		return row
	}
	to := from + strings.IndexAny(row[from:], ",}")
	if row[to] == ',' {
		return row[:from] + row[to+1:]
	}
	return strings.TrimSuffix(row[:from], ",") + row[to:]
}

// course is the errors of a run, and where the columns changed.
type course struct {
	rows              []int64
	errors            []float64 // sums
	adopted, succeeds int64     // rows; 0: not
	renamed           int64     // likewise
}

// add adds what a learner reports.
func (c *course) add(e event.Event) {
	switch e := e.(type) {
	case event.Learned:
		w := e.Progress.Whole
		err := w.Model.Error
		if e.Progress.Task == learner.Regression {
			err = w.Model.MSE
		}
		c.rows, c.errors = append(c.rows, e.Progress.Examples), append(c.errors, err*float64(w.Rows))
	case event.Renamed:
		if c.renamed == 0 {
			c.renamed = c.rows[len(c.rows)-1]
		}
	case event.Succeeded:
		if c.succeeds == 0 && len(c.rows) > 0 {
			c.succeeds = c.rows[len(c.rows)-1]
		}
	}
}

// mean returns the mean error of the rows [from, to), to the next ends of BATCHes, which differ
// between runs on a busy machine.
func (c *course) mean(from, to int64) float64 {
	at := func(row int64) int { i, _ := slices.BinarySearch(c.rows, row); return min(i, len(c.rows)-1) }
	i, j := at(from), at(to)
	return (c.errors[j] - c.errors[i]) / float64(c.rows[j]-c.rows[i])
}

func measureAdoption(t *testing.T, name, label, column string, start int) {
	client := kafkatest.Client(t)
	run := func(what string, at int, adopt bool) (c course) {
		in := kafkatest.Name("stream")
		kafkatest.Fill(t, client, in, 1, streamed(t, name, column, start, at))
		cfg, _ := learntest.Config(client, what, in)
		cfg.Linger = time.Second // BATCHes of the same rows in all runs
		cfg.Learner = learner.Config{Mixture: true, MaxFeatures: 512}
		cfg.Decode = decode.Config{Label: label, Infer: true, Missing: "impute", Unknown: "ignore", Adopt: adopt}
		cfg.Report = func(e event.Event) {
			c.add(e)
			if e, ok := e.(event.Columns); ok && e.Adopted != nil && c.adopted == 0 {
				c.adopted = int64(at) + 100
			}
		}
		learnAll(t, cfg)
		return c
	}
	half := *adoptionRows / 2
	adopts, without, always := run("adopts", half, true), run("without", half, false), run("always", 0, false)
	n, a := int64(*adoptionRows), adopts.adopted
	before, after := adopts.mean(a-1000, a), adopts.mean(a, a+1000)
	succession := "–|–"
	if s := adopts.succeeds; s > 0 {
		succession = fmt.Sprintf("%.4g|%.4g", adopts.mean(s-1000, s), adopts.mean(s, s+1000))
	}
	fmt.Printf("|%s|%s|%d|%.4g|%.4g|%.4g|%s|%.4g|%.4g|%.4g|\n", name, column, start, before, after, without.mean(a, a+1000), succession,
		adopts.mean(n*3/4, n), without.mean(n*3/4, n), always.mean(n*3/4, n))
	if after != without.mean(a, a+1000) && adopts.succeeds > a+1100 {
		t.Errorf("%s, %s: an adoption has changed the error from %v to %v", name, column, without.mean(a, a+1000), after)
	}
	if s := adopts.succeeds; s > 0 && adopts.mean(s, min(n, s+1000)) > 1.1*without.mean(s, min(n, s+1000)) {
		t.Errorf("%s, %s: the error is %v right after the model with the column predicts, and %v without it", name, column, adopts.mean(s, s+1000), without.mean(s, s+1000))
	}
}
