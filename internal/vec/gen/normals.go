package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// -2 ln(1+y) = y*logarithm(y) for y in [-1/4, 1/2]
var logarithm = []float32{-2, 1.000001311302185, -0.6666720509529114, 0.49986526370048523, -0.39951106905937195, 0.3364562690258026, -0.2999366521835327, 0.24183042347431183, -0.10851885378360748}

var minus2Ln2 = -2 * float32(math.Ln2)

func normals() {
	normals512()
	boxMuller2()
}

func normals512() {
	log := table("log512", logarithm, 1)
	numbers := table("numbers512", []float32{1, 32, minus2Ln2, 0x1p-32}, 1)
	words := GLOBL("words512", RODATA|NOPTR)
	for i, w := range []uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574} {
		DATA(4*i, U32(w))
	}
	for i := range 16 {
		DATA(16+4*i, U32(uint32(i)))
	}
	DATA(16+64, U32(1))
	DATA(16+68, U32(1<<31))

	text("normals512", NOSPLIT, "func(n int, key *uint32, dst *float32)")
	Pragma("noescape")
	Doc("normals512 makes n times 248 numbers of key, which it leaves as the next one.",
		"Lane b of the 16 is ChaCha's block b; lanes 12 to 15 of the words 14 and 15",
		"are the next key.")
	n, key, dst := load("n"), load("key"), load("dst")
	v := zmm[:16]
	Label("loop")
	for i, z := range v {
		switch {
		case i < 4:
			VPBROADCASTD(words.Offset(4*i), z)
		case i < 12:
			VPBROADCASTD(at(key, 4*(i-4)), z)
		case i == 12:
			VMOVDQU32(words.Offset(16), z)
		default:
			VPXORD(z, z, z)
		}
	}
	quarters := func(q [4][4]int) { // four quarter rounds, side by side
		each := func(f func(a, b, c, d VecPhysical)) {
			for _, x := range q {
				f(v[x[0]], v[x[1]], v[x[2]], v[x[3]])
			}
		}
		for _, r := range [2][2]int{{16, 12}, {8, 7}} {
			each(func(a, b, c, d VecPhysical) { VPADDD(b, a, a) })
			each(func(a, b, c, d VecPhysical) { VPXORD(a, d, d) })
			each(func(a, b, c, d VecPhysical) { VPROLD(Imm(uint64(r[0])), d, d) })
			each(func(a, b, c, d VecPhysical) { VPADDD(d, c, c) })
			each(func(a, b, c, d VecPhysical) { VPXORD(c, b, b) })
			each(func(a, b, c, d VecPhysical) { VPROLD(Imm(uint64(r[1])), b, b) })
		}
	}
	for range 4 {
		quarters([4][4]int{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}})
		quarters([4][4]int{{0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}})
	}
	for i := 4; i < 12; i++ {
		VPADDD_BCST(at(key, 4*(i-4)), v[i], v[i])
	}
	VEXTRACTI32X4(Imm(3), v[14], at(key, 0))
	VEXTRACTI32X4(Imm(3), v[15], at(key, 16))
	one := zmm[16]
	VPBROADCASTD(words.Offset(16+64), one)
	horner := func(table Mem, degree int, x, y VecPhysical) {
		VBROADCASTSS(table.Offset(4*degree), y)
		for k := degree - 1; k >= 0; k-- {
			VMULPS(x, y, y)
			VADDPS_BCST(table.Offset(4*k), y, y)
		}
	}
	for i := 0; i < 16; i += 2 {
		u, a := v[i], v[i+1]
		t := zmm[17+i%4*3:]
		y, e, l := t[0], t[1], t[2]
		VPORD(one, u, u)
		VCVTUDQ2PS(u, u)
		VGETMANTPS(Imm(3), u, y) // in [3/4, 3/2)
		VGETEXPPS(u, e)
		VCMPPS_BCST(Imm(1), numbers, y, K1) // below 1: it was halved
		VADDPS_BCST(numbers, e, K1, e)
		VSUBPS_BCST(numbers, y, y)
		VSUBPS_BCST(numbers.Offset(4), e, e)
		horner(log, 8, y, l)
		VMULPS(y, l, l)
		VMULPS_BCST(numbers.Offset(8), e, e)
		VADDPS(e, l, l)
		VSQRTPS(l, l) // the radius
		VPADDD(a, a, y)
		VPXORD(y, a, a)
		VPTERNLOGD_BCST(Imm(0x78), words.Offset(16+68), a, l) // changes its sign beyond a quarter turn
		VCVTDQ2PS(y, y)
		VMULPS_BCST(numbers.Offset(12), y, y) // half turns
		VMULPS(y, y, e)
		horner(cos512, 4, e, u)
		horner(sin512, 4, e, a)
		VMULPS(y, a, a)
		VMULPS(l, u, u)
		VMULPS(l, a, a)
	}
	// Sixteen consecutive words are four lanes of four registers.
	for q := range 4 {
		a, t := v[4*q:4*q+4], zmm[16:24]
		VSHUFI32X4(Imm(0x44), a[1], a[0], t[0]) // lanes 0 1 of the first, 0 1 of the second
		VSHUFI32X4(Imm(0xee), a[1], a[0], t[1])
		VSHUFI32X4(Imm(0x44), a[3], a[2], t[2])
		VSHUFI32X4(Imm(0xee), a[3], a[2], t[3])
		VSHUFI32X4(Imm(0x88), t[2], t[0], t[4])
		VSHUFI32X4(Imm(0xdd), t[2], t[0], t[5])
		VSHUFI32X4(Imm(0x88), t[3], t[1], t[6])
		VSHUFI32X4(Imm(0xdd), t[3], t[1], t[7])
		for g := range 4 {
			if q == 3 && g == 3 {
				VMOVUPS(Y23, at(dst, 256*g+64*q))
				continue
			}
			VMOVUPS(t[4+g], at(dst, 256*g+64*q))
		}
	}
	ADDQ(I32(4*248), dst)
	countdown(n, "loop")
	VZEROUPPER()
	RET()
}

func boxMuller2() {
	log := table("log2", logarithm, 8)
	numbers := table("numbers2", []float32{1, 1.5, .5, 65536, minus2Ln2, 0x1p-32}, 8)
	integer := func(name string, w uint32) Mem {
		m := GLOBL(fmt.Sprint("words2", name), RODATA|NOPTR)
		for l := range 8 {
			DATA(4*l, U32(w))
		}
		return m
	}
	one, low, sign, mantissa, exponent, bias := integer("One", 1), integer("Low", 0xffff), integer("Sign", 1<<31), integer("Mantissa", 1<<23-1), integer("Exponent", 127<<23), integer("Bias", 127+32)
	number := func(i int) Mem { return numbers.Offset(32 * i) }

	text("boxMuller2", NOSPLIT, "func(n int, words *uint32, dst *float32)")
	Pragma("noescape")
	Doc("boxMuller2 makes n times 16 numbers of as many words.")
	n, words, dst := load("n"), load("words"), load("dst")
	horner := func(table Mem, degree int, x, y VecPhysical) {
		VMOVUPS(table.Offset(32*degree), y)
		for k := degree - 1; k >= 0; k-- {
			VMULPS(x, y, y)
			VADDPS(table.Offset(32*k), y, y)
		}
	}
	u, a, y, e, l, t := Y0, Y1, Y2, Y3, Y4, Y5
	Label("loop")
	VMOVDQU(at(words, 0), Y6)
	VMOVDQU(at(words, 32), Y7)
	VPERM2I128(Imm(0x20), Y7, Y6, u)
	VPERM2I128(Imm(0x31), Y7, Y6, a)
	VPOR(one, u, u)
	VPSRLD(Imm(16), u, t) // both halves as float32: only their sum is rounded
	VPAND(low, u, u)
	VCVTDQ2PS(t, t)
	VCVTDQ2PS(u, u)
	VMULPS(number(3), t, t)
	VADDPS(t, u, u)
	VPSRLD(Imm(23), u, e)
	VPSUBD(bias, e, e)
	VCVTDQ2PS(e, e)
	VPAND(mantissa, u, y)
	VPOR(exponent, y, y)
	VCMPPS(Imm(0x0d), number(1), y, t) // at least 3/2
	VMULPS(number(2), y, l)
	VBLENDVPS(t, l, y, y)
	VANDPS(number(0), t, t)
	VADDPS(t, e, e)
	VSUBPS(number(0), y, y)
	horner(log, 8, y, l)
	VMULPS(y, l, l)
	VMULPS(number(4), e, e)
	VADDPS(e, l, l)
	VSQRTPS(l, l) // the radius
	VPADDD(a, a, y)
	VPXOR(y, a, a)
	VPAND(sign, a, a)
	VPXOR(a, l, l) // changes its sign beyond a quarter turn
	VCVTDQ2PS(y, y)
	VMULPS(number(5), y, y) // half turns
	VMULPS(y, y, e)
	horner(cos2, 4, e, u)
	horner(sin2, 4, e, a)
	VMULPS(y, a, a)
	VMULPS(l, u, u)
	VMULPS(l, a, a)
	VPERM2F128(Imm(0x20), a, u, Y6)
	VPERM2F128(Imm(0x31), a, u, Y7)
	VMOVUPS(Y6, at(dst, 0))
	VMOVUPS(Y7, at(dst, 32))
	ADDQ(Imm(64), words)
	ADDQ(Imm(64), dst)
	countdown(n, "loop")
	VZEROUPPER()
	RET()
}
