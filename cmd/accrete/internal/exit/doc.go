// Package exit maps errors to exit codes.
package exit
