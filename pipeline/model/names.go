package model

import "cmp"

// option is how a configuration names a member of the options in a model log.
type option struct {
	name    string // as in a configuration; empty: as in the log
	off     string // value if the log has none; empty: "nothing"
	on      string // value if the log has true
	derived bool   // follows from the option name, and is not worth a line beside it
}

// options has the members whose name or value differs from that of the configuration.
var options = map[string]option{
	"input.above":   {name: "learner.kernel", derived: true},
	"input.adopt":   {name: "input.on_change", off: "continue or stop", on: "adopt"},
	"input.by_time": {name: "input.order", off: "arrival", on: "time"},
	"input.depth":   {name: "input.on_change", derived: true},
	"input.framed":  {name: "input.registry.url", off: "nothing", on: "a registry"},
	"input.grams":   {name: "input.columns", derived: true},
	"input.zones":   {name: "input.columns", derived: true},
	"input.counts":  {name: "learner.loss", derived: true},
	"input.infer":   {name: "input.columns", derived: true},
	"input.labels":  {name: "input.label"},
	"input.late":    {name: "input.labels", off: "off"},
	"input.reader":  {name: "input.schema"},
	"input.renames": {name: "input.on_change", derived: true},
	"input.sparse":  {name: "input.sparse", derived: true},
	"input.task":    {name: "learner.task", derived: true},
	"input.types":   {name: "input.columns"},
	"input.unknown": {name: "input.on_change", derived: true},

	"learner.averaging":      {name: "learner.step.averaging", off: "auto"},
	"learner.at_cap":         {name: "learner.step.at_cap", off: "auto"},
	"learner.balance":        {off: "none"},
	"learner.costs":          {off: "none"},
	"learner.discard":        {name: "learner.mixture", derived: true},
	"learner.effort":         {off: "default"},
	"learner.folds":          {off: "0"},
	"learner.forest":         {off: "0"},
	"learner.forest_lasting": {name: "learner.forest", derived: true},
	"learner.forest_pairs":   {name: "learner.forest", derived: true},
	"learner.forest_regrow":  {name: "learner.forest", derived: true},
	"learner.forest_trial":   {name: "learner.forest", derived: true},
	"learner.half_life":      {off: "0"},
	"learner.intervals":      {off: "0"},
	"learner.lags":           {name: "input.lags"},
	"learner.longest_step":   {name: "learner.step.longest", off: "0"},
	"learner.max_classes":    {name: "input.max_classes", derived: true},
	"learner.memory":         {off: "0"},
	"learner.metric":         {name: "learner.kernel.metric"},
	"learner.mixture":        {off: "off", on: "on"},
	"learner.monitor":        {off: "0"},
	"learner.new_steps":      {name: "learner.step.new", off: "0"},
	"learner.normal_scores":  {off: "off", on: "auto"},
	"learner.old_steps":      {name: "learner.step.old", off: "0"},
	"learner.outputs":        {name: "input.label", derived: true},
	"learner.sparse":         {name: "input.sparse", off: "0"},
	"learner.step_size":      {name: "learner.step.size", off: "0"},
	"learner.stepper":        {name: "learner.direction"},
	"learner.theta":          {name: "learner.step.theta", off: "0"},
	"learner.variance":       {off: "off", on: "on"},
	"learner.width":          {name: "learner.block_size"},
}

// OptionName returns how a configuration names a member of the options in a model log, such as
// learner.step_size.
func OptionName(key string) string { return cmp.Or(options[key].name, key) }

// value returns the text of a value of the option, which is "" if the log has none.
func (o option) value(text string) string {
	switch text {
	case "":
		return cmp.Or(o.off, "nothing")
	case "true":
		return cmp.Or(o.on, text)
	}
	return text
}
