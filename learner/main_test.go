package learner

import (
	"os"
	"runtime/debug"
	"testing"
)

// The heaps of tests are small: with the usual 100 % they spend a tenth of their time
// collecting garbage.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
