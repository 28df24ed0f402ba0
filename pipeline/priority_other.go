//go:build !linux

package pipeline

// lowerPriority does nothing, because it relies on the per-thread priorities of Linux.
func lowerPriority() {}
