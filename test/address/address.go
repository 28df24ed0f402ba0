// Package address finds addresses for servers that a test stops and starts again.
package address

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// OwnHost returns an address of this machine of which no other program takes a port while a
// server is down: on Linux, which has all of 127.0.0.0/8, nobody else uses it. All have the same
// length as text, so that a proxy can replace one by another in what it forwards.
func OwnHost() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1"
	}
	digit := func() int { return 1 + rand.N(9) }
	return fmt.Sprintf("127.%d.%d.%d", digit(), digit(), digit())
}
