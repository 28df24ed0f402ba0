// Package features has random features for shift-invariant kernels (Rahimi and
// Recht 2007): frequencies drawn from the kernel's spectral density, and the
// cosine and the sine of each frequency's product with an input.
//
// A Kernel draws frequencies from a Source of random numbers, a Map says which
// frequencies there are, block by block, and a Bank lays them out for the
// machine and computes features, predictions and gradients with them.
//
// A program can use a kernel of its own: implement Kernel, and set Map.Kernel.
// To give the kernel a name that ParseKernel, and with it configurations and
// snapshots, can read, append a Family to Kernels.
package features
