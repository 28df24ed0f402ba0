package draft

import (
	"fmt"
	"io"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/lint"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
)

// write writes the file and prints the commands to run next.
func (c *Command) write(e *env.Env, cfg *config.Config, s *lint.Sampled) error {
	text := file(cfg, s)
	if c.Output == "-" {
		_, err := io.WriteString(e.Stdout, text)
		return err
	}
	f, err := os.OpenFile(c.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "%s: %s, %s, label %s (%s labelled of %s sampled", c.Output, what(s), display.Count(int64(len(s.Columns)), "column"), cfg.Input.Label, display.Thousands(int64(s.Report.Labelled)), display.Thousands(int64(s.Report.Records)))
	if s.Report.Rejected > 0 {
		fmt.Fprintf(e.Stdout, ", %s would go to quarantine", display.Thousands(int64(s.Report.Rejected)))
	}
	fmt.Fprintf(e.Stdout, ")\nnext  accrete lint --online -c %[1]s\n      accrete learn -c %[1]s\n", c.Output)
	return nil
}

func what(s *lint.Sampled) string {
	if n := max(s.Report.Classes, s.Report.LikeClasses); n > 0 {
		return fmt.Sprintf("classification with %d classes so far", n)
	}
	return s.Report.Task
}

// task returns the option of the task if the labels look like classes, but would be read as values.
func task(s *lint.Sampled) string {
	if s.Report.LikeClasses == 0 {
		return ""
	}
	return fmt.Sprintf("learner:\n  task: classification   # of %d different whole numbers; remove it if they are values\n\n", s.Report.LikeClasses)
}

// usualClasses and mostClasses are the default and the greatest value of input.max_classes.
const usualClasses, mostClasses = 256, 65536

// classes returns this option if the sample has more than half as many classes as the default admits.
// Its value is a power of two that leaves room for as many again.
func classes(s *lint.Sampled) string {
	n := s.Report.Classes
	if 2*n <= usualClasses {
		return ""
	}
	return fmt.Sprintf("  max_classes: %d   # %s in %s labelled records; records with more go to quarantine\n", min(mostClasses, 1<<bits.Len(uint(2*n-1))), display.Thousands(int64(n)), display.Thousands(int64(s.Report.Labelled)))
}

// file returns the text of the configuration.
func file(cfg *config.Config, s *lint.Sampled) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A configuration of Accrete. Every option: accrete lint --reference\n\nmodel: %s\n\nkafka:\n", scalar(cfg.Model))
	for _, v := range cfg.Values() {
		key, ok := strings.CutPrefix(v.Key, "kafka.")
		if !ok || v.Source.Kind == "default" {
			continue
		}
		if v.Value == "***" {
			fmt.Fprintf(&b, "  # %s: from the environment (%s), or a file (%s_file)\n", key, config.EnvName(v.Key), key)
			continue
		}
		fmt.Fprintf(&b, "  %s: %s\n", key, v.Text)
	}
	fmt.Fprintf(&b, "\n%sinput:\n  topics: [%s]\n  label: %s   # %s\n%s", task(s), scalar(cfg.Input.Topics[0]), scalar(cfg.Input.Label.String()), what(s), classes(s))
	if len(s.Columns) == 0 {
		return b.String()
	}
	width := 0
	for _, c := range s.Columns {
		width = max(width, len(scalar(c.Name)))
	}
	b.WriteString("  # Types: numeric, category, boolean, time, text, id, ignored; docs/columns.md\n  columns:\n")
	for _, c := range s.Columns {
		kind := c.Type
		if kind == "" || c.Identifier {
			kind = "ignored"
		} else if c.IsText {
			kind = learner.TextColumn.String()
		}
		var notes []string
		switch {
		case c.Type == "":
			notes = append(notes, "had no value")
		case c.Identifier:
			notes = append(notes, "looks like an identifier; otherwise "+c.Type)
		case c.IsText:
			notes = append(notes, fmt.Sprintf("%s distinct values of several words; otherwise category", display.Thousands(int64(c.Distinct))))
		default:
			notes = append(notes, fmt.Sprintf("%s distinct", display.Thousands(int64(c.Distinct))))
		}
		if c.Missing > 0 {
			notes = append(notes, fmt.Sprintf("missing in %s", display.Thousands(c.Missing)))
		}
		if c.Hint != "" && !c.IsText {
			notes = append(notes, c.Hint)
		}
		fmt.Fprintf(&b, "    %-*s %-10s # %s\n", width+1, scalar(c.Name)+":", kind, strings.ReplaceAll(strings.Join(notes, ", "), "\n", " "))
	}
	return b.String()
}

// scalar returns a string as YAML.
func scalar(s string) string {
	var back any
	if err := yaml.Unmarshal([]byte(s), &back); err == nil && back == s && !strings.ContainsAny(s, "#:,[]{}\n") {
		return s
	}
	return strconv.Quote(s)
}
