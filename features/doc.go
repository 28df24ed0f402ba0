// Package features has the random features of a kernel (Rahimi and Recht 2007): the
// cosine and the sine of the products of an input with frequencies that are drawn from
// the kernel's spectral density, or features of the kernel's own.
//
// A Map says which frequencies there are, block by block: it has a kernel of package
// kernel and a Sampling. A Bank lays them out for the machine and computes features,
// predictions and gradients with them.
package features
