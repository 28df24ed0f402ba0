// Package planted breaks rules of the learner on purpose, one at a time, to test
// whether the tests detect it. Only programs built with the tag planted have faults,
// of which the environment variable ACCRETE_PLANTED selects one.
package planted
