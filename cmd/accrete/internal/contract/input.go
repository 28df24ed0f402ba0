package contract

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// node is a value of an input record: a column, or an object or list that contains columns.
type node struct {
	schema object // of a column
	names  []string
	inner  map[string]*node
}

func (n *node) at(path string) *node {
	for _, name := range strings.Split(path, ".") {
		if n.inner == nil {
			n.inner = map[string]*node{}
		}
		if n.inner[name] == nil {
			n.inner[name] = &node{}
			n.names = append(n.names, name)
		}
		n = n.inner[name]
	}
	return n
}

// object returns the schema of n. more says whether objects and lists may contain other values as
// well.
func (n *node) object(more bool) object {
	if n.inner == nil {
		return n.schema
	}
	if items, ok := n.items(more); ok {
		o := object{{"type", []string{"array", "null"}}, {"prefixItems", items}}
		if !more {
			o = o.with("maxItems", len(items))
		}
		return o
	}
	properties := object{}
	for _, name := range n.names {
		properties = properties.with(name, n.inner[name].object(more))
	}
	o := object{{"type", []string{"object", "null"}}, {"properties", properties}}
	if !more {
		o = o.with("additionalProperties", false)
	}
	return o
}

// items returns the schemas of the items of a list. ok is false if n is an object: its names are not
// the numbers from 0 on.
func (n *node) items(more bool) (items []object, ok bool) {
	for i := range n.names {
		item := n.inner[strconv.Itoa(i)]
		if item == nil {
			return nil, false
		}
		items = append(items, item.object(more))
	}
	return items, true
}

// input returns the JSON Schema of input records of the model called name. columns are the known
// columns; renames are other names of fields in which records may have their values.
func input(name string, c decode.Config, columns []schema.Field, renames []decode.Rename, task learner.Task) object {
	missing := c.Missing != "quarantine"
	root := &node{}
	columns = slices.DeleteFunc(slices.Clone(columns), func(f schema.Field) bool { return ofTable(c, f.Name) })
	for _, f := range columns {
		if !f.Pair {
			root.at(f.Name).schema = column(f.Type, missing)
		}
	}
	var required []string
	for _, f := range columns {
		if i := slices.IndexFunc(renames, func(r decode.Rename) bool { return r.Column == f.Name }); i >= 0 {
			root.at(renames[i].Field).schema = column(f.Type, true)
			root.at(f.Name).schema = column(f.Type, true)
			continue
		}
		if top, _, _ := strings.Cut(f.Name, "."); !missing && !f.Pair && !slices.Contains(required, top) {
			required = append(required, top)
		}
	}
	names := []string{c.Label}
	if len(c.Labels) > 0 {
		names = c.Labels
	}
	for _, label := range names {
		if label != "" {
			root.at(label).schema = described(labelSchema(task), "Label; a record without it is predicted only.")
		}
	}
	if c.Weight != "" {
		root.at(c.Weight).schema = described(object{{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1e6}}, "Weight of the example.")
	}
	if c.Key != "" {
		root.at(c.Key).schema = described(typed("string", "number", "null"), "Key of the prediction.")
	}
	for _, field := range slices.Sorted(maps.Keys(c.Types)) {
		if t := c.Types[field]; !schema.IsColumn(t) && t != schema.Pair {
			for _, name := range calledToo(field, renames) {
				root.at(name).schema = described(object{}, "No input.")
			}
		}
	}
	for i := range c.Tables {
		if t := &c.Tables[i]; t.Key != c.Key && !ofTable(c, t.Key) && !slices.ContainsFunc(columns, func(f schema.Field) bool { return f.Name == t.Key }) {
			for _, name := range calledToo(t.Key, renames) {
				root.at(name).schema = described(typed("string", "number", "null"), "Key of the row of "+t.Topic+" that the record is enriched with.")
			}
		}
	}
	slices.Sort(root.names)
	o := root.object(len(columns) == 0 || c.Unknown != "quarantine")
	o[0].value = "object"
	o = append(object{{"$schema", dialect}, {"title", "Input of " + name}}, o...)
	if required != nil {
		o = o.with("required", required)
	}
	return o
}

// calledToo returns the name of a field, and the names that records may use for it instead.
func calledToo(field string, renames []decode.Rename) []string {
	names := []string{field}
	for _, r := range renames {
		if r.Column == field {
			names = append(names, r.Field)
		}
	}
	return names
}

// ofTable reports whether a column is a field of the rows of a table.
func ofTable(c decode.Config, name string) bool {
	return slices.ContainsFunc(c.Tables, func(t decode.Table) bool { return slices.Contains(t.Columns(), name) })
}

func labelSchema(task learner.Task) object {
	switch task {
	case learner.Classification:
		return typed("string", "boolean", "number", "null")
	case learner.Regression:
		return typed("number", "null")
	}
	return object{}
}

// column returns the schema of the values of a column. missing says whether null is allowed.
func column(typ string, missing bool) object {
	t, _, _ := strings.Cut(typ, ":")
	var types []string
	switch t {
	case "numeric":
		types = []string{"number"}
	case "boolean":
		types = []string{"boolean"}
	case "text":
		types = []string{"string"}
	case "category", "time":
		types = []string{"string", "number"}
	default: // no value so far
		return object{}
	}
	if missing {
		types = append(types, "null")
	}
	return described(typed(types...), "Input of type "+typ+".")
}
