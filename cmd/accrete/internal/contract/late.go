package contract

import (
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/internal/config"
)

// labelMessage returns the message for a label that arrives without its example. It has a key and
// the label, and the time of the label if that is configured.
func labelMessage(c *config.Config) object {
	l := c.Input.Labels
	of := join.Config{Key: l.Key, LabelKey: l.LabelKey}
	schema, required := object{{"type", "object"}}, []string{}
	properties := object{}
	add := func(path, description string) {
		of := object{}
		if strings.Contains(path, ".") { // inside an object; only the description has the path
			description += " It is at the path " + path + "."
			path, _, _ = strings.Cut(path, ".")
			of = typed("object")
		}
		if i := slices.Index(required, path); i >= 0 { // properties and required have the same order
			was := properties[i].value.(object)
			properties[i].value = described(was[:len(was)-1], was[len(was)-1].value.(string)+" "+description)
			return
		}
		properties, required = properties.with(path, described(of, description)), append(required, path)
	}
	key := "The key of the record is that of its example."
	if path, ok := join.Field(of.Of()); ok {
		key = ""
		add(path, "The key of its example.")
	} else if header, ok := join.Header(of.Of()); ok {
		key = "The header " + header + " has the key of its example."
	} else if c.Input.Key != "" {
		key = ""
		add(c.Input.Key, "The key of its example.")
	}
	names := []string(c.Input.Label)
	if l.Field != "" {
		names = []string{l.Field}
	}
	for _, name := range names {
		add(name, "The label: "+kindOf(c)+".")
	}
	if l.Time != "" {
		add(l.Time, "When the label was known.")
	}
	o := object{{"name", "label"}, {"title", "Label"}}
	if key != "" {
		o = o.with("description", key)
	}
	return append(o, object{{"contentType", "application/json"}, {"payload", jsonSchema(append(schema, object{{"properties", properties}, {"required", required}}...))}}...)
}

func kindOf(c *config.Config) string {
	if c.Learner.Task == "regression" {
		return "a number"
	}
	return "a class, or a number for a regression"
}
