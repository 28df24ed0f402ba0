package learner

import "testing"

// The covariance of a block needs many rows: dsg does not precondition with that of a small
// mini-batch unless it is told to.
func TestSmallMinibatchesAreNotPreconditioned(t *testing.T) {
	for _, test := range []struct {
		config Config
		want   string
		size   int
	}{
		{Config{Algorithm: "dsg"}, "precond", 1024},
		{Config{Algorithm: "cdsg", Minibatch: 256}, "precond", 256},
		{Config{Algorithm: "udsg", Minibatch: 255}, "rate", 255},
		{Config{Algorithm: "dsg", Minibatch: 64, Direction: "precond"}, "precond", 64},
		{Config{Algorithm: "all"}, "rate", 128},
	} {
		c, err := test.config.Effective()
		if err != nil || c.Direction != test.want || c.Minibatch != test.size {
			t.Errorf("%+v: direction %s, mini-batches of %d, %v; want %s and %d", test.config, c.Direction, c.Minibatch, err, test.want, test.size)
		}
		if again, err := c.Effective(); err != nil || again != c {
			t.Errorf("%+v becomes %+v, %v", c, again, err)
		}
	}
}
