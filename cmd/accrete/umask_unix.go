//go:build !windows

package main

import "syscall"

// keepPrivate makes every file that this process creates accessible to its user
// only, because models, the broker's topics and their reports reveal the data.
func keepPrivate() { syscall.Umask(0o077) }
