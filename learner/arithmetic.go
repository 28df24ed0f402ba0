package learner

// Arithmetic is the version of what turns rows into bits. A log is learned again
// by programs of its own version only, so it grows by one with every change after
// which the same rows lead to another state or prediction.
const Arithmetic = 1
