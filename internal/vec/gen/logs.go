package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// logs512 is the scalar code for a vector: products are rounded, and none is fused.
func logs512() {
	text("logs512", NOSPLIT, "func(n int, x, dst, table *float64) (done int)")
	Pragma("noescape")
	Doc("logs512 is dst[i] = ln x[i] for i < n, with logTable. It ends early before a vector with",
		"a number out of the range of the table, or a NaN.")
	left, x, dst, table := load("n"), load("x"), load("dst"), load("table")
	done, out := GP64(), GP64()
	XORQ(done, done)
	constant := func(i int) Mem { return at(table, 8*i) }
	least, most, root, half, one, two := zmm[8], zmm[9], zmm[10], zmm[11], zmm[12], zmm[13]
	ln2High, ln2Low := zmm[14], zmm[15]
	for i, to := range []VecPhysical{least, most, root, half, one, two, ln2High, ln2Low} {
		VBROADCASTSD(constant(i), to)
	}
	series := zmm[16:27]
	for i, to := range series {
		VBROADCASTSD(constant(8+i), to)
	}
	u, k, f, s, z, r, h, t := zmm[0], zmm[1], zmm[2], zmm[3], zmm[4], zmm[5], zmm[6], zmm[7]
	const notLess, notLessOrEqual, greater = 5, 6, 0x1e
	Label("loop")
	count := firstBits(left, K1)
	VMOVUPD_Z(at(x, 0), K1, u)
	VCMPPD(Imm(notLess), least, u, K1, K2)
	VCMPPD(Imm(notLessOrEqual), most, u, K1, K3)
	KXORB(K1, K2, K2)
	KORB(K2, K3, K3)
	KMOVB(K3, out.As32())
	TESTL(out.As32(), out.As32())
	JNZ(LabelRef("end"))
	VGETEXPPD(u, k)
	VGETMANTPD(Imm(0), u, f) // in [1, 2)
	VCMPPD(Imm(greater), root, f, K2)
	VMULPD(half, f, K2, f)
	VADDPD(one, k, K2, k)
	VSUBPD(one, f, f)
	VADDPD(two, f, t)
	VDIVPD(t, f, s)
	VMULPD(s, s, z)
	VMULPD(z, series[0], r)
	for _, a := range series[1:] {
		VADDPD(a, r, r)
		VMULPD(z, r, r)
	}
	VMULPD(half, f, h)
	VMULPD(f, h, h) // f²/2
	VADDPD(r, h, t)
	VMULPD(s, t, t)
	VMULPD(ln2Low, k, z)
	VADDPD(z, t, t)
	VSUBPD(t, h, h)
	VSUBPD(f, h, h)
	VMULPD(ln2High, k, k)
	VSUBPD(h, k, k)
	VMOVUPD(k, K1, at(dst, 0))
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), dst)
	ADDQ(count, done)
	TESTQ(left, left)
	JNZ(LabelRef("loop"))
	Label("end")
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
