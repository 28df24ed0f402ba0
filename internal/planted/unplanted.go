//go:build !planted

package planted

// Fault returns false, so that the compiler removes its calls and the code that they guard.
func Fault(string) bool { return false }
