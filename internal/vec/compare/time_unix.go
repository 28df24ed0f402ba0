//go:build unix

package main

import "syscall"

// processTime returns the CPU time of this process in seconds, over all threads.
func processTime() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
