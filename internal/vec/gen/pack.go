package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func packing() {
	limits := GLOBL("limits512", RODATA|NOPTR)
	for i, w := range []uint32{1 << 31, 1<<31 - 1, math.Float32bits(0x1p-50), math.Float32bits(0x1p50), math.Float32bits(float32(1 / math.Pi))} {
		DATA(4*i, U32(w))
	}
	packRows512(limits)
	packFour512("packFrequencies512", "clamp(w[i*dim+k] / pi)", func(v, to VecPhysical) {
		VMULPS(halfTurn, v, v)
		clamp(v, to)
	}, limits)
	packFour512("transpose512", "w[i*dim+k]", func(v, to VecPhysical) { VMOVAPS(v, to) }, limits)
	transpose2()
}

// transpose2 ends with eight columns that overlap the previous ones.
func transpose2() {
	text("transpose2", NOSPLIT, "func(dim int, w, dst *float32)")
	Pragma("noescape")
	Doc("transpose2 is dst[12k+i] = w[i*dim+k] for i < 4 and k < dim, of 8 or more.")
	dim, w, dst := load("dim"), load("w"), load("dst")
	k, most, s3, to := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: dim, Index: dim, Scale: 2}, s3)
	LEAQ(at(dim, -8), most)
	XORQ(k, k)
	p := GP64()
	Label("eight")
	LEAQ(Mem{Base: w, Index: k, Scale: 4}, p)
	LEAQ(Mem{Base: k, Index: k, Scale: 2}, to)
	SHLQ(Imm(4), to)
	ADDQ(dst, to)
	r := append([]VecPhysical(nil), ymm[:4]...)
	free := ymm[4]
	for i, m := range []Mem{{Base: p}, {Base: p, Index: dim, Scale: 4}, {Base: p, Index: dim, Scale: 8}, {Base: p, Index: s3, Scale: 4}} {
		VMOVUPS(m, r[i])
	}
	columns(r, &free)
	for j := range 8 {
		if j < 4 {
			VMOVUPS(r[j].AsX(), at(to, 4*panel*j))
		} else {
			VEXTRACTF128(Imm(1), r[j-4], at(to, 4*panel*j))
		}
	}
	ADDQ(Imm(8), k)
	CMPQ(k, dim)
	JGE(LabelRef("done"))
	CMPQ(k, most)
	CMOVQGT(most, k)
	JMP(LabelRef("eight"))
	Label("done")
	VZEROUPPER()
	RET()
}

// The registers of clamp: the sign bit, the other bits, and the least and the greatest magnitude.
// halfTurn is for the conversion to half turns.
var sign, rest, least, greatest, halfTurn = zmm[31], zmm[30], zmm[29], zmm[28], zmm[27]

func constants(limits Mem) {
	for i, z := range []VecPhysical{sign, rest, least, greatest, halfTurn} {
		VPBROADCASTD(limits.Offset(4*i), z)
	}
}

// clamp is clamp of package vec, from register v to register to.
func clamp(v, to VecPhysical) {
	VPANDD(rest, v, to)
	VPMINUD(greatest, to, to)
	VPCMPUD(Imm(5), least, to, K2) // at least
	VPTERNLOGD_Z(Imm(0xd8), sign, v, K2, to)
}

// interleave applies two shuffles to a and b. Afterwards a and b have the results of low and high,
// and free is the register that is unused.
func interleave(low, high func(ops ...Op), a, b, free *VecPhysical) {
	low(*b, *a, *free)
	high(*b, *a, *a)
	*a, *b, *free = *free, *a, *b
}

// columns transposes four registers of rows within each lane of four numbers: afterwards register c
// has column c of each lane, for the four rows.
func columns(r []VecPhysical, free *VecPhysical) {
	interleave(VUNPCKLPS, VUNPCKHPS, &r[0], &r[1], free)
	interleave(VUNPCKLPS, VUNPCKHPS, &r[2], &r[3], free)
	interleave(VUNPCKLPD, VUNPCKHPD, &r[0], &r[2], free)
	interleave(VUNPCKLPD, VUNPCKHPD, &r[1], &r[3], free)
	r[1], r[2] = r[2], r[1]
}

// byColumns emits a loop over 16 columns at a time, followed by the last columns, which are fewer
// than 16. Mask K1 has the columns that body processes. last is nil, or the register with the
// number of last columns.
func byColumns(dim Register, body func(last Register, id string)) {
	k := GP64()
	mask := GP32()
	MOVL(U32(0xffff), mask)
	KMOVW(mask, K1)
	MOVQ(dim, k)
	SUBQ(Imm(16), k)
	JL(LabelRef("rest"))
	Label("sixteen")
	body(nil, "sixteen")
	SUBQ(Imm(16), k)
	JGE(LabelRef("sixteen"))
	Label("rest")
	ADDQ(Imm(16), k)
	JZ(LabelRef("done"))
	BZHIL(k.As32(), mask, mask)
	KMOVW(mask, K1)
	body(k, "last")
	Label("done")
	VZEROUPPER()
	RET()
}

// unless emits a jump to "done" if there are no more than j columns.
func unless(last Register, j int) {
	if last != nil && j > 0 {
		CMPQ(last, I32(j))
		JLE(LabelRef("done"))
	}
}

func packRows512(limits Mem) {
	text("packRows512", NOSPLIT, "func(dim int, x, dst *float32)")
	Pragma("noescape")
	Doc("packRows512 is dst[32k+i] = clamp(x[i*dim+k]) for i < 16 and k < dim.")
	dim, x, dst := load("dim"), load("x"), load("dst")
	constants(limits)
	s, s3 := GP64(), GP64()
	MOVQ(dim, s)
	SHLQ(Imm(2), s)
	LEAQ(Mem{Base: s, Index: s, Scale: 2}, s3)
	p := []Register{x, GP64(), GP64(), GP64()}
	for i := 1; i < 4; i++ {
		LEAQ(Mem{Base: p[i-1], Index: s, Scale: 4}, p[i])
	}
	byColumns(dim, func(last Register, id string) {
		var r [16]VecPhysical
		copy(r[:], zmm)
		free := zmm[16]
		for i := range r {
			m := Mem{Base: p[i/4]}
			switch i % 4 {
			case 1:
				m.Index, m.Scale = s, 1
			case 2:
				m.Index, m.Scale = s, 2
			case 3:
				m.Index, m.Scale = s3, 1
			}
			VMOVUPS_Z(m, K1, free)
			clamp(free, r[i])
		}
		transpose16(r[:], &free)
		for j := range 16 {
			unless(last, j)
			VMOVUPS(r[column16(j)], at(dst, 4*lanes*j))
		}
		for _, q := range p {
			ADDQ(Imm(64), q)
		}
		ADDQ(I32(4*lanes*16), dst)
	})
}

func packFour512(name, what string, value func(v, to VecPhysical), limits Mem) {
	text(name, NOSPLIT, "func(dim int, w, dst *float32)")
	Pragma("noescape")
	Doc(name + " is dst[12k+i] = " + what + " for i < 4 and k < dim.")
	dim, w, dst := load("dim"), load("w"), load("dst")
	constants(limits)
	s, s3 := GP64(), GP64()
	MOVQ(dim, s)
	SHLQ(Imm(2), s)
	LEAQ(Mem{Base: s, Index: s, Scale: 2}, s3)
	byColumns(dim, func(last Register, id string) {
		r := append([]VecPhysical(nil), zmm[:4]...)
		free := zmm[4]
		for i, m := range []Mem{{Base: w}, {Base: w, Index: s, Scale: 1}, {Base: w, Index: s, Scale: 2}, {Base: w, Index: s3, Scale: 1}} {
			VMOVUPS_Z(m, K1, free)
			value(free, r[i])
		}
		columns(r, &free)
		for j := range 16 {
			unless(last, j)
			VEXTRACTF32X4(Imm(uint64(j/4)), r[j%4], at(dst, 4*panel*j))
		}
		ADDQ(Imm(64), w)
		ADDQ(I32(4*panel*16), dst)
	})
}
