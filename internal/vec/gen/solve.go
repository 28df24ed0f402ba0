package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// solve512 keeps the eight numbers of b that are being solved for in a register. A load of numbers
// that several stores have just written would have to wait for these stores.
func solve512() {
	text("solve512", NOSPLIT, "func(n int, l, b *float64)")
	Pragma("noescape")
	Doc("solve512 is CholeskySolve:",
		"",
		"\tfor i: b[i] = (b[i] - Σ l[i][j]*b[j] for j < i, in the order of Dot) / l[i][i]",
		"\tfor i, from the last: b[i] /= l[i][i], b[j] -= l[i][j]*b[i] for j < i")
	n, row, b := load("n"), load("l"), load("b")
	i, left, x, r, step, c, bits := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	lane, now, p, u, q := zmm[0], zmm[1], zmm[2], zmm[3], zmm[4]
	// K1 selects the numbers before i among the eight, K2 number i, and K3 those that exist.
	masks := func() {
		MOVQ(i, c)
		ANDQ(Imm(7), c)
		MOVQ(I32(-1), bits)
		BZHIQ(c, bits, bits)
		KMOVB(bits.As32(), K1)
		MOVQ(U32(1), bits)
		SHLXQ(c, bits, bits)
		KMOVB(bits.As32(), K2)
	}
	start := func() {
		MOVQ(b, x)
		MOVQ(row, r)
		MOVQ(i, left)
		SHRQ(Imm(3), left)
	}
	next := func() {
		ADDQ(Imm(64), x)
		ADDQ(Imm(64), r)
	}
	MOVQ(n, step)
	SHLQ(Imm(3), step)
	XORQ(i, i)
	VPXORD(now, now, now)
	Label("forward")
	masks()
	VPXORD(lane, lane, lane)
	start()
	JZ(LabelRef("rest"))
	Label("eight")
	VMOVUPD(at(r, 0), p)
	VMULPD(at(x, 0), p, p)
	VADDPD(p, lane, lane)
	next()
	countdown(left, "eight")
	Label("rest")
	VMOVUPD_Z(at(r, 0), K1, p)
	VMULPD(now, p, p)
	VADDPD(p, lane, K1, lane)
	VEXTRACTF64X4(Imm(1), lane, ymm512(2))
	VADDPD(ymm512(2), ymm512(0), ymm512(0))
	VEXTRACTF128(Imm(1), ymm512(0), xmm[2])
	VADDPD(xmm[2], xmm[0], xmm[0])
	VUNPCKHPD(xmm[0], xmm[0], xmm[2])
	VADDSD(xmm[2], xmm[0], xmm[0])
	VMOVSD(Mem{Base: x, Index: c, Scale: 8}, xmm[2])
	VSUBSD(xmm[0], xmm[2], xmm[2])
	VDIVSD(Mem{Base: r, Index: c, Scale: 8}, xmm[2], xmm[2])
	VMOVSD(xmm[2], Mem{Base: x, Index: c, Scale: 8})
	VBROADCASTSD(xmm[2], K2, now)
	ADDQ(step, row)
	INCQ(i)
	CMPQ(i, n)
	JLT(LabelRef("forward"))

	DECQ(i)
	INCQ(c)
	MOVQ(I32(-1), bits)
	BZHIQ(c, bits, bits)
	KMOVB(bits.As32(), K3)
	Label("backward")
	SUBQ(step, row)
	masks()
	VCOMPRESSPD_Z(now, K2, u)
	VDIVSD(Mem{Base: row, Index: i, Scale: 8}, xmm[3], xmm[3])
	VBROADCASTSD(xmm[3], u)
	VMOVAPD(u, K2, now)
	start()
	JZ(LabelRef("few"))
	Label("many")
	VMULPD(at(r, 0), u, p)
	VMOVUPD(at(x, 0), q)
	VSUBPD(p, q, q)
	VMOVUPD(q, at(x, 0))
	next()
	countdown(left, "many")
	Label("few")
	VMOVUPD_Z(at(r, 0), K1, p)
	VMULPD(u, p, p)
	VSUBPD(p, now, K1, now)
	TESTQ(c, c)
	JNZ(LabelRef("same"))
	VMOVUPD(now, K3, at(x, 0))
	KXNORB(K3, K3, K3)
	TESTQ(i, i)
	JZ(LabelRef("end"))
	VMOVUPD(at(x, -64), now)
	Label("same")
	DECQ(i)
	JMP(LabelRef("backward"))
	Label("end")
	VZEROUPPER()
	RET()
}
