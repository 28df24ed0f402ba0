package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/ingest/auth"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/learner/loss"
)

// validate reports missing and contradicting options. The bounds of single
// options are checked when they are set.
func (c *Config) validate() Problems {
	v := &validation{Config: c}
	v.required()
	v.connection()
	v.learner()
	v.addresses()
	v.windows()
	v.tables()
	v.renames()
	v.topics()
	v.formats()
	v.labels()
	v.adopt()
	v.sparse()
	v.weighing()
	return v.problems
}

// validation collects the problems of a configuration.
type validation struct {
	*Config
	problems Problems
}

func (v *validation) add(path, format string, args ...any) {
	v.problems = append(v.problems, v.problem(path, fmt.Sprintf(format, args...)))
}

// required reports required options that are missing. A scorer needs no input.
func (v *validation) required() {
	scorerOnly := (len(v.Score.Topics) > 0 || v.Score.Predict == "on") && len(v.Input.Topics) == 0
	for i := range known.options {
		o := &known.options[i]
		if o.tag.Get("required") == "" || o.section == "input" && scorerOnly {
			continue
		}
		if err := v.Require(o.path); err != nil {
			v.problems = append(v.problems, err.(Problems)...)
		}
	}
}

func (v *validation) connection() {
	k := &v.Kafka
	for _, server := range k.Servers {
		if err := checkAddress(server, false); err != nil {
			v.add("kafka.bootstrap.servers", "%v", err)
		}
	}
	security, err := k.Security()
	if err != nil {
		v.add("kafka.sasl.oauthbearer.extensions", "%v", err)
		return
	}
	if err := security.Check(); err != nil {
		for _, err := range unjoin(err) {
			var fault auth.OptionError
			errors.As(err, &fault)
			v.add("kafka."+fault.Option, "%s", fault.Text)
		}
	}
}

func unjoin(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}

func (v *validation) learner() {
	labels := len(v.Input.Label)
	if _, err := kernel.Parse(v.Learner.Kernel); err != nil {
		v.add("learner.kernel", "%v", err)
	}
	if above := (learner.Config{Kernel: v.Learner.Kernel}).Above(); above != 0 && (v.Learner.KernelMetric != "" || v.Input.Lags > 0) {
		v.add("learner.kernel", "%s requires inputs %s: it excludes kernel.metric and input.lags", v.Learner.Kernel, kernel.Domain(above))
	}
	if v.Learner.KernelMetric != "" && v.Input.Lags > 0 {
		v.add("learner.kernel.metric", "cannot be combined with input.lags: the metric is for the inputs of one record")
	}
	if sampling, err := features.ParseSampling(v.Learner.Sampling); err == nil && len(v.Input.Columns.Names()) > 0 && v.Input.Lags == 0 {
		if err := sampling.Check(len(v.Input.Columns.Names())); err != nil {
			v.add("learner.sampling", "%v", err)
		}
	}
	if v.Learner.Loss != "auto" {
		l, err := loss.Parse(v.Learner.Loss)
		switch {
		case err != nil:
			v.add("learner.loss", "%v", err)
		case labels > 1 && l.Classifies():
			v.add("learner.loss", "%v is a loss for classes, but input.label has %d fields, which need task regression", l, labels)
		}
	}
	if _, err := learner.ParseEffort(v.Learner.Effort); err != nil {
		v.add("learner.effort", "%s", strings.TrimPrefix(err.Error(), "effort "))
	}
	if _, _, err := learner.ParseForest(v.Learner.Forest); err != nil {
		v.add("learner.forest", "%s", strings.TrimPrefix(err.Error(), "forest "))
	}
	if n := v.Learner.Monitor; n > 0 && n < divergence.MinBlockRows {
		v.add("learner.monitor", "is %d: want 0 (none), or %d to %d", n, divergence.MinBlockRows, divergence.MaxBlockRows)
	}
	if v.Gate.Metric != "none" && v.Input.Lags > 0 {
		v.add("gate.metric", "cannot be combined with input.lags: only the learner can predict with lags")
	}
	if v.Learner.Task == "novelty" {
		v.novelty()
	}
	if labels > 1 && v.Learner.Task == "classification" {
		v.add("learner.task", "is classification, but input.label has %d fields, which need task regression", labels)
	} else if labels > learner.MaxTargets {
		v.add("input.label", "has %d fields: want at most %d", labels, learner.MaxTargets)
	}
}

// novelty reports options that need labels.
func (v *validation) novelty() {
	switch {
	case len(v.Input.Label) > 1:
		v.add("learner.task", "is novelty, but input.label has %d fields: want none or one", len(v.Input.Label))
	case v.Learner.Algorithm != "newton":
		v.add("learner.algorithm", "%s does not detect novelty, which has an algorithm of its own: leave the option out", v.Learner.Algorithm)
	case v.Learner.Costs != "none":
		v.add("learner.costs", "%s needs labels, which task novelty does not have", v.Learner.Costs)
	case v.Input.Lags > 0:
		v.add("input.lags", "needs labels, which task novelty does not have")
	case v.Gate.Metric != "none":
		v.add("gate.metric", "needs labels, which task novelty does not have")
	case v.Refit.Every > 0:
		v.add("refit.every", "needs labels, which task novelty does not have")
	}
}

func (v *validation) addresses() {
	for _, at := range []struct{ path, address string }{{"http.listen", v.HTTP.Listen}, {"score.http.listen", v.Score.Listen}} {
		if at.address == "off" {
			continue
		}
		if err := checkAddress(at.address, true); err != nil {
			v.add(at.path, "%v, or off", err)
		}
	}
	if u, err := url.Parse(v.Telemetry.OTLP); err == nil && u.User != nil {
		v.add("telemetry.otlp", "has a password, which would be displayed: set OTEL_EXPORTER_OTLP_HEADERS")
	}
	switch h := &v.HTTP; {
	case h.Cert != "" && h.Key == "":
		v.add("http.tls.key_file", "is missing, but required by tls.cert_file")
	case h.Cert == "" && h.Key != "":
		v.add("http.tls.cert_file", "is missing, but required by tls.key_file")
	case h.Cert == "" && h.ClientCA != "":
		v.add("http.tls.cert_file", "is missing, but required by tls.client_ca_file")
	}
}

// topics reports input topics that the model itself writes.
func (v *validation) topics() {
	for _, topic := range v.Input.Topics {
		if v.ours(topic) || topic == v.Score.Output {
			v.add("input.topics", "%q is written by this model, which would learn from its own output", topic)
		}
	}
	for _, topic := range v.Score.Topics {
		if v.ours(topic) || topic == v.Score.Output {
			v.add("score.topics", "%q is written by this model, which would score its own output", topic)
		}
	}
	if v.ours(v.Score.Output) {
		v.add("score.output", "%q is written by the learner", v.Score.Output)
	}
	v.canary()
	switch topic := v.Requests.Topic; {
	case topic == "":
	case v.ours(topic) || topic == v.Score.Output:
		v.add("requests.topic", "%q is written by this model for another purpose", topic)
	case slices.Contains(v.Score.Topics, topic):
		v.add("requests.topic", "%q is one of score.topics: its rows have been predicted when they are written", topic)
	}
}

// canary reports a second model that cannot be tried.
func (v *validation) canary() {
	s := &v.Score
	switch topic := s.CanaryOutput; {
	case s.Canary == "" && topic != "":
		v.add("score.canary.model", "is missing, but required by canary.output")
	case s.Canary != "" && s.Canary == v.Model:
		v.add("score.canary.model", "%q is the model itself; name another", s.Canary)
	case topic != "" && (writes(v.Model, topic) || writes(s.Canary, topic) || topic == s.Output || topic == v.Requests.Topic || slices.Contains(s.Topics, topic) || slices.Contains(v.Input.LearnedTopics(), topic)):
		v.add("score.canary.output", "%q has another purpose", topic)
	}
}

// ours reports whether the learner writes to the topic.
func (c *Config) ours(topic string) bool { return writes(c.Model, topic) }

// Writes reports whether a learner or a scorer of the model, or of its canary, writes to the topic.
func (c *Config) Writes(topic string) bool {
	s := &c.Score
	return c.ours(topic) || s.Canary != "" && writes(s.Canary, topic) || slices.Contains([]string{s.Output, s.CanaryOutput, c.Requests.Topic}, topic)
}

// writes reports whether the learner of a model writes to the topic.
func writes(model, topic string) bool {
	suffix, ok := strings.CutPrefix(topic, model)
	return ok && slices.Contains([]string{".log", ".predictions", ".quarantine", ".released", ".heartbeats"}, suffix)
}

// Require returns Problems if any of the given options is missing.
func (c *Config) Require(paths ...string) error {
	var problems Problems
	for _, path := range paths {
		o := known.byPath[path]
		if o == nil {
			panic("config: no option " + path)
		}
		if o.field(c).Len() > 0 || path == "input.label" && c.Learner.Task == "novelty" {
			continue
		}
		text := fmt.Sprintf("is missing: add %s: %s", o.key, o.tag.Get("example"))
		if o.section != "" {
			text += " below " + o.section + ":"
		}
		problems = append(problems, c.problem(path, text+", or set "+o.env))
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// checkAddress accepts host:port, and :port for listening.
func checkAddress(s string, listen bool) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" && !listen {
		return fmt.Errorf("%s is not an address: want host:port", quote(s))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && !listen {
		return fmt.Errorf("%s has no port from 1 to 65535", quote(s))
	}
	return nil
}
