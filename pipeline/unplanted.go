//go:build !planted

package pipeline

const skipRerelease = false
