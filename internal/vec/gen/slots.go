package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// slots emits the loops over the rows of a table that columns are hashed to.
func slots() {
	addSlots512()
	stepSlots512()
}

// firstBits emits code that selects the first min(n, 8) of n elements in mask, and subtracts their
// number from n. It returns the register with their number.
func firstBits(n Register, mask Register) Register {
	bits, c := GP64(), GP64()
	MOVQ(I32(8), c)
	CMPQ(n, c)
	CMOVQLT(n, c)
	SUBQ(c, n)
	MOVQ(I32(-1), bits)
	BZHIQ(c, bits, bits)
	KMOVB(bits.As32(), mask)
	return c
}

// addSlots512 may fuse its products with sums, because the products are exact.
func addSlots512() {
	text("addSlots512", NOSPLIT, "func(n, k, mask int, columns *uint32, values, coef *float32, f *float64)")
	Pragma("noescape")
	Doc("addSlots512 is f[j] += values[i]*coef[columns[i]&mask][j], for i = 0, 1, ..., n-1, for j < k.")
	n, k, mask, columns, values := load("n"), load("k"), load("mask"), load("columns"), load("values")
	coef, f := load("coef"), load("f")
	left, i, slot, bytes := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: k, Index: k, Scale: 1}, bytes)
	ADDQ(bytes, bytes)
	MOVQ(k, left)
	masks := []Register{K1, K2, K3, K4}
	v := zmm[8]
	Label("block")
	for b, m := range masks {
		firstBits(left, m)
		VMOVUPD_Z(at(f, 64*b), m, zmm[b])
	}
	XORQ(i, i)
	Label("column")
	MOVL(Mem{Base: columns, Index: i, Scale: 4}, slot.As32())
	ANDQ(mask, slot)
	IMULQ(bytes, slot)
	ADDQ(coef, slot)
	VBROADCASTSS(Mem{Base: values, Index: i, Scale: 4}, ymm512(8))
	VCVTPS2PD(ymm512(8), v)
	for b, m := range masks {
		VCVTPS2PD_Z(at(slot, 32*b), m, zmm[4+b])
		VFMADD231PD(v, zmm[4+b], zmm[b])
	}
	INCQ(i)
	CMPQ(i, n)
	JLT(LabelRef("column"))
	for b, m := range masks {
		VMOVUPD(zmm[b], m, at(f, 64*b))
	}
	ADDQ(I32(256), f)
	ADDQ(I32(128), coef)
	TESTQ(left, left)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func stepSlots512() {
	text("stepSlots512", NOSPLIT, "func(n, k, mask int, columns *uint32, values, largest, coef, squares *float32, slope, sizes *float64)")
	Pragma("noescape")
	Doc("stepSlots512 is, for i = 0, 1, ..., n-1, with s = columns[i]&mask, of slots of k numbers, for j < k,",
		"with the numbers rate, bound of sizes,",
		"",
		"\td = slope[j] * (values[i]/largest[s]), squares[s][j] = float32(squares[s][j] + d*d)",
		"\tcoef[s][j] = float32(within bound/largest[s]: coef[s][j] - rate*d/(sqrt(squares[s][j])*largest[s]))",
		"",
		"where squares[s][j] is above 0 then.")
	n, k, mask, columns, values := load("n"), load("k"), load("mask"), load("columns"), load("values")
	largest, coef, squares, slope, sizes := load("largest"), load("coef"), load("squares"), load("slope"), load("sizes")
	left, slot, p := GP64(), GP64(), GP64()
	z, most, high, low, rate, zero := zmm[0], zmm[1], zmm[2], zmm[3], zmm[4], zmm[5]
	d, sum, w := zmm[6], zmm[7], zmm[8]
	// Prefetch all slots before the first one is needed.
	XORQ(left, left)
	Label("ahead")
	MOVL(Mem{Base: columns, Index: left, Scale: 4}, slot.As32())
	ANDQ(mask, slot)
	IMULQ(k, slot)
	LEAQ(Mem{Base: squares, Index: slot, Scale: 4}, p)
	LEAQ(Mem{Base: p, Index: k, Scale: 4}, slot)
	Label("cacheLine")
	PREFETCHT0(at(p, 0))
	ADDQ(Imm(64), p)
	CMPQ(p, slot)
	JLT(LabelRef("cacheLine"))
	PREFETCHT0(at(slot, -4))
	INCQ(left)
	CMPQ(left, n)
	JLT(LabelRef("ahead"))
	VBROADCASTSD(at(sizes, 0), rate)
	VPXORD(zero, zero, zero)
	Label("column")
	MOVL(at(columns, 0), slot.As32())
	ANDQ(mask, slot)
	VBROADCASTSS(Mem{Base: largest, Index: slot, Scale: 4}, ymm512(1))
	VCVTPS2PD(ymm512(1), most)
	VBROADCASTSS(at(values, 0), ymm512(0))
	VCVTPS2PD(ymm512(0), z)
	VDIVPD(most, z, z)
	VBROADCASTSD(at(sizes, 8), high)
	VDIVPD(most, high, high)
	VSUBPD(high, zero, low)
	IMULQ(k, slot)
	SHLQ(Imm(2), slot)
	MOVQ(k, left)
	MOVQ(slope, p)
	Label("vector")
	firstBits(left, K1)
	VMULPD_Z(at(p, 0), z, K1, d)
	VMULPD(d, d, w)
	VCVTPS2PD_Z(Mem{Base: squares, Index: slot, Scale: 1}, K1, sum)
	VADDPD(w, sum, sum)
	VCVTPD2PS(sum, ymm512(7))
	VCVTPS2PD(ymm512(7), w)
	const greater = 30
	VCMPPD(Imm(greater), zero, w, K1, K2)
	VMOVUPS(ymm512(7), K2, Mem{Base: squares, Index: slot, Scale: 1})
	VSQRTPD(w, w)
	VMULPD(most, w, w)
	VMULPD(rate, d, d)
	VDIVPD(w, d, d)
	VCVTPS2PD_Z(Mem{Base: coef, Index: slot, Scale: 1}, K2, w)
	VSUBPD(d, w, w)
	VMINPD(w, high, w)
	VMAXPD(w, low, w)
	VCVTPD2PS(w, ymm512(8))
	VMOVUPS(ymm512(8), K2, Mem{Base: coef, Index: slot, Scale: 1})
	ADDQ(Imm(64), p)
	ADDQ(Imm(32), slot)
	TESTQ(left, left)
	JNZ(LabelRef("vector"))
	ADDQ(Imm(4), columns)
	ADDQ(Imm(4), values)
	countdown(n, "column")
	VZEROUPPER()
	RET()
}
