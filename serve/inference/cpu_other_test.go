//go:build !unix

package inference

import "time"

func cpuTime() time.Duration { return 0 }
