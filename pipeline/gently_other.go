//go:build !linux

package pipeline

// gently does nothing: other systems than Linux have no priority for a thread.
func gently() {}
