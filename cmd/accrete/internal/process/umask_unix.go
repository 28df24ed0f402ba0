//go:build !windows

package process

import "syscall"

// KeepPrivate makes every file that this process creates accessible to its user
// only, because models, the broker's topics and their reports reveal the data.
func KeepPrivate() { syscall.Umask(0o077) }
