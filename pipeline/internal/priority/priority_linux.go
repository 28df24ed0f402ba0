package priority

import (
	"runtime"
	"syscall"
)

// Lower locks the calling goroutine to a thread of the lowest priority, so that it
// does not slow down learning. On Linux the priority is per thread. The goroutine does
// not unlock the thread, which therefore ends together with it.
func Lower() {
	runtime.LockOSThread()
	const least = 19
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), least) // on an error it runs at normal priority
}
