//go:build !windows

package main

import "syscall"

// keepPrivate has every file that this process makes be its user's alone: models,
// the broker's topics and what is written about them tell of the data.
func keepPrivate() { syscall.Umask(0o077) }
