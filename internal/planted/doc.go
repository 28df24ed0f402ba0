// Package planted breaks rules of the learner on purpose, one at a time, to check that the tests
// detect it. Only programs built with the tag planted have faults. The environment variable
// ACCRETE_PLANTED selects one of them.
package planted
