package learner

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCanonicalConfigHasEveryDefault(t *testing.T) {
	got, err := Config{}.Canonical()
	want := `{"algorithm":"newton","stepper":"rate","kernel":"gaussian","sampling":"iid","task":"auto","loss":"auto","width":64,"max_features":4096,"minibatch":32,"max_classes":256,"lambda":0.000001,"lags":0,"on_drift":"none","seed":1}`
	if err != nil || string(got) != want {
		t.Errorf("the zero Config is\n%s, %v, want\n%s", got, err, want)
	}
	var c Config
	if err := json.Unmarshal(got, &c); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Canonical(); err != nil || string(again) != want {
		t.Errorf("read back it is %s, %v", again, err)
	}
}

func TestConfigNamesWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		c    Config
		want string
	}{
		{Config{Algorithm: "sgd"}, `unknown algorithm "sgd": want one-class, newton, ridge`},
		{Config{Kernel: "gaussian:0"}, "kernel"},
		{Config{Kernel: "sinc"}, "kernel"},
		{Config{Task: 7}, "task is 7"},
		{Config{Task: -1, Loss: "hinge"}, "task is -1"},
		{Config{BlockSize: -1}, "block_size"},
		{Config{MaxFeatures: 31}, "max_features"},
		{Config{Minibatch: 1 << 20}, "minibatch"},
		{Config{MaxClasses: 1}, "max_classes"},
		{Config{Lambda: -1}, "lambda"},
		{Config{Lambda: 2}, "lambda"},
	} {
		if _, err := New(test.c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want an error about %s", test.c, err, test.want)
		}
	}
}
