// Package learner learns a kernel machine from a stream, one mini-batch at a
// time, by doubly stochastic functional gradients (Dai et al. 2014).
//
// The package does no input or output, reads no clock and logs nothing. A
// Learner is a state machine, and whoever owns it has these duties, in this
// order:
//
//  1. Predict. Predict takes the rows of a batch up to and including the one
//     after which the model may change, and returns them as a Pass. Call it
//     again with the rest of the batch after duty 3.
//  2. Publish the predictions of the Pass. They were made before anything was
//     learned from its rows, so they are honest.
//  3. Learn from the Pass. Nothing can be learned that was not predicted.
//  4. Now and then save State, with the position in the stream just behind the
//     last row learned.
//
// There is a prediction from the first row on. Until there is a fit it is the
// share of each class, or the mean. Fits of the columns' scale and the kernel's
// width to the first rows take effect at fixed rows (warmup.go), and the model
// begins anew with each of them, from the rows so far. From the last of them on,
// at row 1,250, only mini-batches change it, and classes that appear.
//
// The same Config and the same rows give the same predictions and the same
// State, bit for bit, however the rows are cut into batches and on any number
// of cores; a Learner restored from a State goes on exactly.
package learner
