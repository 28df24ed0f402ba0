package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// leafSums keeps the k scores of a row in one vector. It fuses no operations.
func leafSums(name string, k int, v []VecPhysical) {
	text(name, NOSPLIT, "func(n int, leaf, last *uint16, step, change, gradient, curvature, sums *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is, for i = 0, 1, ..., n-1 and j < k = %d, with the sums of k slopes and k Hessians for each leaf,", name, k),
		"",
		"\tchange[i][j] += step[last[i]][j]",
		"\tsums[leaf[i]][j] += gradient[i][j] + curvature[i][j]*change[i][j], sums[leaf[i]][k+j] += curvature[i][j]")
	n, leaf, last, step := load("n"), load("leaf"), load("last"), load("step")
	change, gradient, curvature, sums := load("change"), load("gradient"), load("curvature"), load("sums")
	i, to, from := GP64(), GP64(), GP64()
	XORQ(i, i)
	row := func(base Register) Mem { return Mem{Base: base, Index: i, Scale: 8} }
	slopes, hessians := Mem{Base: sums, Index: to, Scale: 1}, Mem{Base: sums, Index: to, Scale: 1, Disp: 8 * k}
	bits := uint(bits.TrailingZeros(uint(k)))
	Label("row")
	MOVWLZX(at(leaf, 0), to.As32())
	MOVWLZX(at(last, 0), from.As32())
	SHLQ(Imm(uint64(4+bits)), to)
	SHLQ(Imm(uint64(3+bits)), from)
	VMOVUPD(row(change), v[0])
	VADDPD(Mem{Base: step, Index: from, Scale: 1}, v[0], v[0])
	VMOVUPD(v[0], row(change))
	VMOVUPD(row(curvature), v[1])
	VMULPD(v[0], v[1], v[2])
	VADDPD(row(gradient), v[2], v[2])
	VADDPD(slopes, v[2], v[2])
	VADDPD(hessians, v[1], v[1])
	VMOVUPD(v[2], slopes)
	VMOVUPD(v[1], hessians)
	ADDQ(Imm(2), leaf)
	ADDQ(Imm(2), last)
	ADDQ(Imm(uint64(k)), i)
	countdown(n, "row")
	VZEROUPPER()
	RET()
}

const notAboveDoc = "bit l of set[i] = x[64*i+l] <= threshold, for i < n and l < 64"

func notAbove512() {
	text("notAbove512", NOSPLIT, "func(n int, threshold int32, x *int32, set *uint64)")
	Pragma("noescape")
	Doc("notAbove512 is " + notAboveDoc + ".")
	n, x, set := load("n"), load("x"), load("set")
	t, bits, high := zmm[0], GP64(), GP64()
	VPBROADCASTD(Load(Param("threshold"), GP32()), t)
	const notLess = 5
	Label("loop")
	for i, k := range []Register{K1, K2, K3, K4} {
		VPCMPD(Imm(notLess), at(x, 64*i), t, k)
	}
	KUNPCKWD(K1, K2, K1)
	KUNPCKWD(K3, K4, K3)
	KMOVD(K1, bits.As32())
	KMOVD(K3, high.As32())
	SHLQ(Imm(32), high)
	ORQ(high, bits)
	MOVQ(bits, at(set, 0))
	ADDQ(I32(256), x)
	ADDQ(Imm(8), set)
	countdown(n, "loop")
	VZEROUPPER()
	RET()
}

func notAbove2() {
	text("notAbove2", NOSPLIT, "func(n int, threshold int32, x *int32, set *uint64)")
	Pragma("noescape")
	Doc("notAbove2 is " + notAboveDoc + ".")
	n, x, set := load("n"), load("x"), load("set")
	t, above, bits := ymm[0], ymm[1], GP32()
	VMOVD(Load(Param("threshold"), GP32()), X0)
	VPBROADCASTD(X0, t)
	Label("loop")
	for i := range 8 {
		VMOVDQU(at(x, 32*i), above)
		VPCMPGTD(t, above, above)
		VMOVMSKPS(above, bits)
		NOTL(bits)
		MOVB(bits.As8(), at(set, i))
	}
	ADDQ(I32(256), x)
	ADDQ(Imm(8), set)
	countdown(n, "loop")
	VZEROUPPER()
	RET()
}
