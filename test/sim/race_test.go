//go:build race

package sim

// raced: the race detector makes a schedule ten times as long.
const raced = true
