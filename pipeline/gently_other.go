//go:build !linux

package pipeline

// gently runs f. Other systems than Linux have no priority for a thread.
func gently(f func()) { f() }
