// Package vec has the hot loops, and the arithmetic that has to give the same bits on every
// machine.
//
// Nothing here depends on which operations a compiler fuses, on the cosine of a library, or on the
// width of a vector: a sum has an order, and every rounding is specified. The plain Go in this
// package is the definition, and the assembly gives the same bits. If a bit of a result changes,
// that is a change of format, which the golden values in the tests detect.
//
// # The random features
//
// Rows and frequencies are packed into panels: 32 rows as [dim][32], and 12 frequencies as
// [dim][12] in half turns, that is, divided by pi. Packing replaces magnitudes above 2^50 by 2^50
// and below 2^-50 by 0, so that no input causes an infinity, a NaN or a subnormal number in the
// following steps. For frequency j and row i:
//
//   - the phase t is one chain of float32 fused multiply-adds from +0 over
//     k = 0, 1, ..., dim-1. With phases in memory, t is their product with
//     a scale, rounded;
//   - n is t rounded to an integer, half to even, and r = t - n, which is exact,
//     and +0 if t is whole, and so for all of 2^23 half turns and more;
//   - s = r*r rounded to float32; the cosine is an even polynomial of degree 8
//     in r, by Horner's rule in s with fused multiply-adds, and the sine is an
//     odd one of degree 9: Horner's rule in s, and a product with r. Where n is
//     odd, both change their sign.
//
// Sum: for score c, the cosines of each group of 96 consecutive frequencies, counted from
// frequency 0, go into one chain of float32 fused multiply-adds from +0 with their coefficients, in
// order, and the sines into another. The float64 sum of the two is added to a float64 sum over the
// groups, in order.
//
// Gradient: rows come in runs of 256, counted from the first row. In a run, lane l of 16 takes rows
// l, l+16, l+32, ... into one chain of float32 fused multiply-adds from +0 of feature and factor.
// The lanes are added in float64, l and l+8 first, then l and l+4, l+2, l+1; and the runs are added
// in float64, in order. Rows past the last one are there with the factor 0.
package vec
