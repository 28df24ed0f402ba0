//go:build !failpoints

package ingest

// failpoint does nothing. With the build tag failpoints, it can kill the process:
// see failpoint.go.
func failpoint() {}
