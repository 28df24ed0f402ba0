package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// Renames are a mapping in a file and a list elsewhere, and what String writes is read back.
func TestRenamesCanBeWrittenInBothForms(t *testing.T) {
	want := []decode.Rename{{Column: "amount", Field: "total"}, {Column: "shop", Field: "place.id"}}
	for _, text := range []string{"renames: {amount: total, shop: place.id}", "renames: amount=total,shop=place.id", "renames: [amount=total, shop=place.id]"} {
		c, err := load(t, least+"  "+text+"\n", nil, nil)
		if err != nil || !slices.Equal(c.Input.Renames.Of(), want) {
			t.Fatalf("%s: %v, %v", text, c, err)
		}
		again, err := load(t, least, nil, []string{"input.renames=" + c.Input.Renames.String()})
		if err != nil || !slices.Equal(again.Input.Renames.Of(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"renames: {amount: [total]}":               "want column: field",
		"renames: {a=b: total}":                    "want names without = and commas",
		"renames: [amount]":                        "want column=field",
		"renames: {amount: is_fraud}":              `"is_fraud" is the label`,
		"renames: {amount: a, shop: a}":            `names "a" twice`,
		"renames: {a: b}\n  columns: {b: numeric}": `"b" is also declared`,
	} {
		if _, err := load(t, least+"  "+text+"\n", nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
