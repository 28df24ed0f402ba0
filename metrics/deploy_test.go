package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

var (
	selector = regexp.MustCompile(`\b((?:accrete|process|go)_[a-z0-9_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`^(\w+)="([^"]*)"$`) // and not one of the dashboard's variables, as model=~"$model"
)

// Every metric and every value of a label that the dashboard and the alerts ask
// for is one that a learner or a scorer has.
func TestDashboardAndAlertsAskForWhatThereIs(t *testing.T) {
	r := all()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string][]string{} // label=value of each metric
	for _, f := range families {
		has[f.GetName()] = []string{}
		for _, m := range f.GetMetric() {
			for _, p := range m.GetLabel() {
				has[f.GetName()] = append(has[f.GetName()], p.GetName()+"="+p.GetValue())
			}
		}
	}
	for where, expr := range expressions(t) {
		found := selector.FindAllStringSubmatch(expr, -1)
		if len(found) == 0 && !strings.HasPrefix(expr, "up{") {
			t.Errorf("%s: %q asks for nothing", where, expr)
		}
		for _, m := range found {
			labels, ok := has[m[1]]
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if !ok {
					labels, ok = has[strings.TrimSuffix(m[1], suffix)]
				}
			}
			if !ok {
				t.Errorf("%s: there is no metric %s", where, m[1])
			}
			for pair := range strings.SplitSeq(m[2], ",") {
				kv := matcher.FindStringSubmatch(strings.TrimSpace(pair))
				if kv == nil || kv[1] == "job" || kv[1] == "component" || kv[1] == "instance" { // the scraper's
					continue
				}
				if !slices.Contains(labels, kv[1]+"="+kv[2]) {
					t.Errorf("%s: %s has no %s", where, m[1], kv[0])
				}
			}
		}
	}
}

// expressions are those of deploy/, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	read := func(path string, unmarshal func([]byte, any) error, v any) {
		t.Helper()
		b, err := os.ReadFile("../deploy/" + path)
		if err == nil {
			err = unmarshal(b, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	read("grafana/dashboards/accrete.json", json.Unmarshal, &board)
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Record, Expr string
				Annotations         struct {
					Runbook string `yaml:"runbook_url"`
				}
			}
		}
	}
	read("prometheus/accrete.rules.yml", func(b []byte, v any) error { return yaml.Unmarshal(b, v) }, &rules)
	b, err := os.ReadFile("../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	runbook := string(b)
	all := map[string]string{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			all["panel "+p.Title+": "+target.Expr] = target.Expr
		}
	}
	for _, g := range rules.Groups {
		for _, rule := range g.Rules {
			all["rule "+rule.Alert+rule.Record] = rule.Expr
			const page = "https://github.com/accrete-ml/accrete/blob/main/docs/alerts.md#"
			anchor, ok := strings.CutPrefix(rule.Annotations.Runbook, page)
			if rule.Alert != "" && (!ok || anchor != strings.ToLower(rule.Alert) || !strings.Contains(runbook, "\n## "+rule.Alert+"\n")) {
				t.Errorf("alert %s: runbook_url %q, want a section of docs/alerts.md", rule.Alert, rule.Annotations.Runbook)
			}
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d expressions in deploy/", len(all))
	}
	return all
}
