//go:build unix

package process

import "syscall"

// CPUSeconds returns the processor time of this process, in user mode and in the kernel.
func CPUSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // Linux and the BSDs define no error for these arguments
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
