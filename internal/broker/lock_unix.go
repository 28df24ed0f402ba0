//go:build !windows

package broker

import (
	"os"

	"golang.org/x/sys/unix"
)

const errLocked = unix.EWOULDBLOCK

func tryLock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
