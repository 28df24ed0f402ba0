package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// mix has the loops over coefficients of several models. Nothing is fused.
func mix() {
	mixRows512()
	towards512()
	adagrad512()
}

func mixRows512() {
	text("mixRows512", NOSPLIT, "func(rows, k, models, averages int, coef, average, shares *float64, dst *float32)")
	Pragma("noescape")
	Doc("mixRows512 is, for each row of coef, [models][k], of average, [averages][k], and of dst, [1+models+averages][k],",
		"with x those of coef and average, of which there are any,",
		"",
		"\tdst[0][j] = Σ x[m][j]*shares[m][j], dst[1+m][j] = x[m][j]")
	rows, k, models, averages := load("rows"), load("k"), load("models"), load("averages")
	coef, average, shares, dst := load("coef"), load("average"), load("shares"), load("dst")
	left, bits, m, x, s, d, n := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	c := GP64() // columns in this vector
	sum, z, p := zmm[0], zmm[1], zmm[2]
	candidates := func(id string, base, count Op) {
		MOVQ(base, x)
		MOVQ(count, m)
		TESTQ(m, m)
		JZ(LabelRef("none" + id))
		Label("model" + id)
		VMOVUPD_Z(at(x, 0), K1, z)
		VMOVUPD_Z(at(s, 0), K1, p)
		VMULPD(z, p, p)
		VADDPD(p, sum, sum)
		VCVTPD2PS(z, ymm512(3))
		VMOVUPS(ymm512(3), K1, at(d, 0))
		LEAQ(Mem{Base: x, Index: k, Scale: 8}, x)
		LEAQ(Mem{Base: s, Index: k, Scale: 8}, s)
		LEAQ(Mem{Base: d, Index: k, Scale: 4}, d)
		countdown(m, "model"+id)
		Label("none" + id)
	}
	Label("row")
	MOVQ(k, left)
	MOVQ(shares, n)
	Label("vector")
	MOVQ(I32(8), c)
	CMPQ(left, c)
	CMOVQLT(left, c)
	MOVQ(I32(-1), bits)
	BZHIQ(c, bits, bits)
	KMOVB(bits.As32(), K1)
	MOVQ(n, s)
	LEAQ(Mem{Base: dst, Index: k, Scale: 4}, d)
	VPXORD(sum, sum, sum)
	candidates("Own", coef, models)
	candidates("Averages", average, averages)
	VCVTPD2PS(sum, ymm512(3))
	VMOVUPS(ymm512(3), K1, at(dst, 0))
	LEAQ(Mem{Base: coef, Index: c, Scale: 8}, coef)
	LEAQ(Mem{Base: average, Index: c, Scale: 8}, average)
	LEAQ(Mem{Base: n, Index: c, Scale: 8}, n)
	LEAQ(Mem{Base: dst, Index: c, Scale: 4}, dst)
	SUBQ(c, left)
	JNZ(LabelRef("vector"))
	// The pointers are behind the first of the models; to the next row.
	MOVQ(models, m)
	DECQ(m)
	IMULQ(k, m)
	LEAQ(Mem{Base: coef, Index: m, Scale: 8}, coef)
	LEAQ(Mem{Base: dst, Index: m, Scale: 4}, dst)
	MOVQ(averages, m)
	IMULQ(k, m)
	LEAQ(Mem{Base: dst, Index: m, Scale: 4}, dst)
	LEAQ(Mem{Base: dst, Index: k, Scale: 4}, dst)
	SUBQ(k, m)
	LEAQ(Mem{Base: average, Index: m, Scale: 8}, average)
	countdown(rows, "row")
	VZEROUPPER()
	RET()
}

func towards512() {
	text("towards512", NOSPLIT, "func(n int, share float64, to, from *float64)")
	Pragma("noescape")
	Doc("towards512 is to[i] += share*(from[i]-to[i]) for i < n.")
	n, to, from := load("n"), load("to"), load("from")
	share, z, p := zmm[0], zmm[1], zmm[2]
	Load(Param("share"), X0)
	VBROADCASTSD(X0, share)
	Label("vector")
	firstBits(n, K1)
	VMOVUPD_Z(at(to, 0), K1, z)
	VMOVUPD_Z(at(from, 0), K1, p)
	VSUBPD(z, p, p)
	VMULPD(share, p, p)
	VADDPD(p, z, z)
	VMOVUPD(z, K1, at(to, 0))
	ADDQ(Imm(64), to)
	ADDQ(Imm(64), from)
	TESTQ(n, n)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

func adagrad512() {
	text("adagrad512", NOSPLIT, "func(n int, rate, slope float64, z, squares, coef *float64)")
	Pragma("noescape")
	Doc("adagrad512 is, for i < n, with g = slope*z[i] and sum = squares[i] + g*g, where g is not 0 and sum is above 0,",
		"",
		"\tsquares[i] = sum, coef[i] -= rate*g / sqrt(sum)")
	n, z, squares, coef := load("n"), load("z"), load("squares"), load("coef")
	rate, slope, zero, g, sum, w := zmm[0], zmm[1], zmm[2], zmm[3], zmm[4], zmm[5]
	Load(Param("rate"), X0)
	VBROADCASTSD(X0, rate)
	Load(Param("slope"), X1)
	VBROADCASTSD(X1, slope)
	VPXORD(zero, zero, zero)
	Label("vector")
	firstBits(n, K1)
	VMOVUPD_Z(at(z, 0), K1, g)
	VMOVUPD_Z(at(squares, 0), K1, sum)
	VMOVUPD_Z(at(coef, 0), K1, w)
	VMULPD(slope, g, g)
	VCMPPD(Imm(4), zero, g, K1, K1) // not equal, or unordered
	VMULPD(g, g, zmm[6])
	VADDPD(zmm[6], sum, sum)
	VCMPPD(Imm(30), zero, sum, K1, K1) // greater, ordered
	VMOVUPD(sum, K1, at(squares, 0))
	VSQRTPD(sum, sum)
	VMULPD(rate, g, g)
	VDIVPD(sum, g, g)
	VSUBPD(g, w, w)
	VMOVUPD(w, K1, at(coef, 0))
	ADDQ(Imm(64), z)
	ADDQ(Imm(64), squares)
	ADDQ(Imm(64), coef)
	TESTQ(n, n)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}
