//go:build race

package sim

// raced is true with the race detector, which makes a schedule take ten times
// as long.
const raced = true
