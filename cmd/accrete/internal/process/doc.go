// Package process reads and restricts the process of this program.
package process
