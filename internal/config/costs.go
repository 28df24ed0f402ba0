package config

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Costs is none, f1, or a JSON object with the costs of wrong predictions.
type Costs string

// objects are the types whose values may be mappings, and what they want.
var objects = map[reflect.Type]string{
	reflect.TypeFor[Costs]():   "none, f1, or class: cost or class: {class: cost}",
	reflect.TypeFor[Balance](): "none, balanced, or class: share",
}

// object returns a mapping as a JSON object, with its plain values as they are written.
func object(n *ast.MappingNode) (text string, ok bool) {
	var b strings.Builder
	for i, entry := range n.Values {
		key, isPlain := entry.Key.(ast.ScalarNode)
		if !isPlain {
			return "", false
		}
		value, ok := scalar(entry.Value)
		if inner, nested := entry.Value.(*ast.MappingNode); nested {
			value, ok = object(inner)
		}
		if !ok {
			return "", false
		}
		name, err := json.Marshal(key.GetToken().Value)
		if err != nil {
			return "", false
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(append(append(name, ':'), value...))
	}
	return b.String() + "}", b.Len() > 0
}
