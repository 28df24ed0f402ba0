//go:build !planted

package pipeline

// planted reports whether this build has a fault, for tests of the tests: see
// planted.go.
func planted(string) bool { return false }
