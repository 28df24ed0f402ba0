package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func reference(t *testing.T) string {
	var b strings.Builder
	if err := WriteReference(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheReferenceExplainsEveryOption(t *testing.T) {
	for _, o := range known.options {
		if len(comments[o.path]) < 10 {
			t.Errorf("%s has no comment", o.path)
		}
		if o.tag.Get("default") == "" && o.tag.Get("example") == "" {
			t.Errorf("%s has neither a default nor an example", o.path)
		}
	}
}

func TestTheReferenceIsAConfiguration(t *testing.T) {
	if _, err := load(t, reference(t), nil, nil); err != nil {
		t.Error(err)
	}
}

// The reference shows the effective defaults.
func TestTheReferenceShowsTheDefaults(t *testing.T) {
	shown := regexp.MustCompile(`(?m)^( *)#([a-z_.]+: .*[^t])$`).ReplaceAllString(reference(t), "$1$2")
	shown = regexp.MustCompile(`(?m)^.*# no default$`).ReplaceAllString(shown, "")
	got, err := load(t, shown, nil, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, shown)
	}
	want, err := load(t, least, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(texts(got), texts(want)) {
		t.Errorf("shown %v\nin effect %v", texts(got), texts(want))
	}
	for _, o := range known.options {
		if s := got.sources[o.path]; o.tag.Get("default") != "" && s.Kind != "file" {
			t.Errorf("%s is not in the reference", o.path)
		}
	}
}
