package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// What a CSV file has beyond its model is ignored, and said: columns, also one without a name, and
// classes. So is a label that is one number in all of the first rows.
func TestFilesThatAreNotQuiteThoseOfTheModel(t *testing.T) {
	inDir(t, least)
	rng := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{"train": ",a,y\n", "test": "id,a,y\n", "alike": "a,y\n", "plain": "a,y\n"}
	for i := range 1200 {
		a := rng.IntN(100)
		class, odd := "low", "low"
		if a >= 50 {
			class, odd = "high", "top"
		}
		if i < 60 {
			files["train"] += fmt.Sprintf("%d,%d,%s\n", i, a, class)
			files["plain"] += fmt.Sprintf("%d,%s\n", a, class)
		}
		if i < 20 {
			files["test"] += fmt.Sprintf("%d,%d,%s\n", i, a, odd)
		}
		files["alike"] += fmt.Sprintf("%d,%d\n", a, i/1100)
	}
	tops := strings.Count(files["test"], "top")
	for name, text := range files {
		if err := os.WriteFile(name+".csv", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unnamed, further, alike := "the first column has no name", `"field":"id","values":20`, "the first labels are one and the same"
	classes := fmt.Sprintf(`"rows":%d,"of":20,"classes":["top"]`, tops)
	for _, test := range []struct {
		args string
		want []string
	}{
		{"fit train.csv --test test.csv --save m.snap", []string{unnamed, further, classes}},
		{"predict test.csv --model m.snap", []string{further}},
		{"fit alike.csv --forest 0 --mixture off", []string{alike}},
		{"fit plain.csv --test plain.csv", nil},
	} {
		code, _, stderr := call(t, nil, strings.Fields(test.args)...)
		if code != exit.Done {
			t.Errorf("%s: exit code %d", test.args, code)
		}
		for _, warning := range []string{unnamed, further, classes, alike} {
			want := false
			for _, w := range test.want {
				want = want || w == warning
			}
			if strings.Contains(stderr, warning) != want {
				t.Errorf("%s: %q is said: %t, in\n%s", test.args, warning, !want, stderr)
			}
		}
	}
}
