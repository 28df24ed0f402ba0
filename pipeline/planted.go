//go:build planted

package pipeline

// A learner built with the tag planted loses predictions in a crash, so that
// the crash test can be seen to fail.
const skipRerelease = true
