package pipeline

import (
	"runtime"
	"syscall"
)

// gently makes the calling goroutine, to its end, run on a thread that gets a
// processor where the others leave one: learning does not wait for it. On Linux
// threads have priorities of their own, and one whose goroutine ends locked to it
// ends too.
func gently() {
	runtime.LockOSThread()
	const least = 19
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), least) // without it it runs like all others
}
