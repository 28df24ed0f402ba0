// Package learner learns a kernel machine from a stream, one mini-batch at a time. Its
// algorithms are listed by Algorithms and explained in docs/algorithms.md.
//
// The package does no input or output, reads no clock and logs nothing. A Learner is a
// state machine, and its host has these duties, in this order:
//
//  1. Predict. Predict takes the rows of a batch up to and including the one after
//     which the model may change, and returns them as a PredictedBatch. Call it again
//     with the rest of the batch after duty 3.
//  2. Publish the predictions of the PredictedBatch. They were made before anything was
//     learned from its rows.
//  3. Learn the PredictedBatch. Only rows that were predicted can be learned.
//  4. From time to time save State, together with the position in the stream after the
//     last row learned.
//
// There is a prediction from the first row on: before the first fit it is the share of
// each class, or the mean. Fits of the columns' scale and the kernel's scale to the
// first rows take effect at fixed rows (the checkpoints of the warm-up), and with each
// of them the model starts again and learns the rows so far. After the last one, from
// row 1,250 on, only mini-batches, the rows that the members of a mixture learn together,
// new classes and a new scale of the labels change the model.
//
// The same Config and the same rows give the same predictions and the same State, bit
// for bit, for any division of the rows into batches and on any number of cores. A
// Learner that is restored from a State continues with the same bits.
package learner
