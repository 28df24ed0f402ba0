package config

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// validate finds what is missing and what does not fit together; the bounds of
// single options are held when they are set.
func (c *Config) validate() Problems {
	var problems Problems
	add := func(path, format string, args ...any) {
		problems = append(problems, c.problem(path, fmt.Sprintf(format, args...)))
	}
	scorerOnly := len(c.Score.Topics) > 0 && len(c.Input.Topics) == 0
	for i := range known.options {
		o := &known.options[i]
		if o.tag.Get("required") == "" || o.section == "input" && scorerOnly {
			continue
		}
		if err := c.Require(o.path); err != nil {
			problems = append(problems, err.(Problems)...)
		}
	}
	for _, server := range c.Kafka.Servers {
		if err := checkAddress(server, false); err != nil {
			add("kafka.bootstrap.servers", "%v", err)
		}
	}
	if _, err := features.ParseKernel(c.Learner.Kernel); err != nil {
		add("learner.kernel", "%v", err)
	}
	if c.Learner.KernelMetric != "" && c.Input.Lags > 0 {
		add("learner.kernel.metric", "is for the inputs of one record, and input.lags adds those of others: want one of them")
	}
	if sampling, err := features.ParseSampling(c.Learner.Sampling); err == nil && c.Input.Columns != nil && c.Input.Lags == 0 {
		if err := sampling.Check(len(c.Input.Columns)); err != nil {
			add("learner.sampling", "%v", err)
		}
	}
	if c.Learner.Loss != "auto" {
		l, err := loss.Parse(c.Learner.Loss)
		switch {
		case err != nil:
			add("learner.loss", "%v", err)
		case len(c.Input.Label) > 1 && l.Classifies():
			add("learner.loss", "%v is for classes, and input.label has %d fields, which are regressed on", l, len(c.Input.Label))
		}
	}
	if n := len(c.Input.Label); n > 1 && c.Learner.Task == "classification" {
		add("learner.task", "is classification, and input.label has %d fields, which are regressed on", n)
	} else if n > learner.MaxOutputs {
		add("input.label", "has %d fields: want at most %d", n, learner.MaxOutputs)
	}
	listen := map[string]string{"http.listen": c.HTTP.Listen, "score.http.listen": c.Score.Listen}
	for _, path := range []string{"http.listen", "score.http.listen"} {
		if listen[path] == "off" {
			continue
		}
		if err := checkAddress(listen[path], true); err != nil {
			add(path, "%v, or off", err)
		}
	}
	sasl := strings.HasPrefix(c.Kafka.Protocol, "SASL_")
	tls := strings.HasSuffix(c.Kafka.Protocol, "SSL")
	switch {
	case sasl && c.Kafka.Mechanism == "":
		add("kafka.sasl.mechanism", "is missing, and %s needs it", c.Kafka.Protocol)
	case sasl && c.Kafka.Username == "":
		add("kafka.sasl.username", "is missing, and %s needs it", c.Kafka.Protocol)
	case sasl && c.Kafka.Secret.Reveal() == "" && c.Kafka.SecretFile == "":
		add("kafka.sasl.password_file", "is missing, and so is %s", envName("kafka.sasl.password"))
	case sasl && c.Kafka.Secret.Reveal() != "" && c.Kafka.SecretFile != "":
		add("kafka.sasl.password_file", "sasl.password is set too: want one of them")
	case !sasl && c.Kafka.Mechanism+c.Kafka.Username+c.Kafka.Secret.Reveal()+c.Kafka.SecretFile != "":
		add("kafka.security.protocol", "is %s, which does not log in: want SASL_SSL for a sasl.mechanism, username or password", c.Kafka.Protocol)
	}
	if c.Kafka.CA != "" && !tls {
		add("kafka.ssl.ca.location", "security.protocol is %s, which has no use for it", c.Kafka.Protocol)
	}
	for _, topic := range c.Input.Topics {
		if c.ours(topic) || topic == c.Score.Output {
			add("input.topics", "%q is what this model writes: it would learn from itself", topic)
		}
	}
	for _, topic := range c.Score.Topics {
		if c.ours(topic) || topic == c.Score.Output {
			add("score.topics", "%q is what this model writes: it would score itself", topic)
		}
	}
	if c.ours(c.Score.Output) {
		add("score.output", "%q is a topic of the learner's", c.Score.Output)
	}
	return problems
}

// ours says whether the learner writes the topic.
func (c *Config) ours(topic string) bool {
	end, ok := strings.CutPrefix(topic, c.Model)
	return ok && (end == ".log" || end == ".predictions" || end == ".quarantine" || end == ".released")
}

// Require says which of the options a command cannot go without is missing.
func (c *Config) Require(paths ...string) error {
	var problems Problems
	for _, path := range paths {
		o := known.byPath[path]
		if o == nil {
			panic("config: no option " + path)
		}
		if o.field(c).Len() > 0 {
			continue
		}
		text := fmt.Sprintf("is missing: write %s: %s", o.key, o.tag.Get("example"))
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

// checkAddress wants host:port, for listening also :port.
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

// Password is the password to log in with, from whichever place has it; empty
// where security.protocol does not log in.
func (c *Config) Password() (string, error) {
	if c.Kafka.SecretFile == "" {
		return c.Kafka.Secret.Reveal(), nil
	}
	text, err := os.ReadFile(c.Kafka.SecretFile)
	if err != nil {
		return "", c.At("kafka.sasl.password_file", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return "", c.At("kafka.sasl.password_file", errors.New(c.Kafka.SecretFile+" has no password in its first line"))
	}
	return line, nil
}
