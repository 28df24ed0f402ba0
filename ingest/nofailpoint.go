//go:build !failpoints

package ingest

// failpoint is where a build with the tag failpoints can die: see failpoint.go.
func failpoint() {}
