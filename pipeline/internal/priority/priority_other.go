//go:build !linux

package priority

// Lower does nothing, because it relies on the per-thread priorities of Linux.
func Lower() {}
