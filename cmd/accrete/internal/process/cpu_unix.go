//go:build unix

package process

import "syscall"

// CPUSeconds returns the processor time that this process has spent in user mode.
func CPUSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // Linux and the BSDs define no error for these arguments
	}
	return float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6
}
