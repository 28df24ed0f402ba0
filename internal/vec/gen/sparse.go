package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// few512 keeps the frequencies of a panel in the lanes, and each row in a register of its own. A
// row is multiplied only in the coordinates in which that row is not 0.
func few512() {
	text("few512", NOSPLIT, "func(panels, n int, numbers *uint32, dim int, w, t *float32)")
	Pragma("noescape")
	Doc("few512 makes the phases t, [panels][12][32], of 32 rows of n numbers v in the coordinates at/48, of which numbers has the uint32 at and the float32 v, [n][2][32]:",
		"",
		"\tfor k, j, i: t[j][i] = FMA(w[at[k][i]/4+j], v[k][i], t[j][i]) from 0, for k = 0, 1, ..., n-1")
	panels, n, numbers := load("panels"), load("n"), load("numbers")
	size, w, t := load("dim"), load("w"), load("t")
	LEAQ(Mem{Base: size, Index: size, Scale: 2}, size)
	SHLQ(Imm(4), size)
	mask, left, p, to := GP32(), GP64(), GP64(), GP64()
	MOVL(U32(1<<panel-1), mask)
	KMOVW(mask, K1)
	Label("panel")
	for h, id := range []string{"first", "last"} {
		r := append([]VecPhysical(nil), zmm[:16]...)
		rest := zmm[16:31] // the last four frequencies of each row except one; a masked register takes longer
		b := zmm[31]
		for _, z := range zmm[:31] {
			VPXORD(z, z, z)
		}
		LEAQ(at(numbers, 64*h), p)
		MOVQ(n, left)
		TESTQ(left, left)
		JZ(LabelRef("none" + id))
		Label("number" + id)
		for i, z := range r {
			MOVL(at(p, 4*i), to.As32())
			VBROADCASTSS(at(p, 4*(lanes+i)), b)
			column := Mem{Base: w, Index: to, Scale: 1}
			if i == len(rest) {
				VFMADD231PS(column, b, K1, z)
				continue
			}
			VFMADD231PS(column, b.AsY(), z.AsY())
			VFMADD231PS(column.Offset(32), b.AsX(), rest[i].AsX())
		}
		ADDQ(I32(4*2*lanes), p)
		countdown(left, "number"+id)
		Label("none" + id)
		for i, x := range rest {
			VINSERTF32X4(Imm(2), x.AsX(), r[i], r[i])
		}
		transpose16(r, &b)
		for j := range panel {
			VMOVUPS(r[column16(j)], at(t, 4*lanes*j+64*h))
		}
	}
	ADDQ(size, w)
	ADDQ(I32(4*lanes*panel), t)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}

// few2 is few512 for four rows at a time.
func few2() {
	const together = 4
	text("few2", NOSPLIT, "func(panels, n int, numbers *uint32, dim int, w, t *float32)")
	Pragma("noescape")
	Doc("few2 is few512.")
	panels, n, numbers := load("panels"), load("n"), load("numbers")
	size, w, t := load("dim"), load("w"), load("t")
	LEAQ(Mem{Base: size, Index: size, Scale: 2}, size)
	SHLQ(Imm(4), size)
	left, group, first, p, to := GP64(), GP64(), GP64(), GP64(), GP64()
	Label("panel")
	MOVQ(I32(lanes/together), group)
	MOVQ(numbers, first)
	Label("rows")
	r := append([]VecPhysical(nil), ymm[:together]...)
	rest := []VecPhysical{X4, X5, X6, X7} // the last four frequencies of each row
	b := Y8
	for _, y := range ymm[:2*together] {
		VXORPS(y, y, y)
	}
	MOVQ(first, p)
	MOVQ(n, left)
	TESTQ(left, left)
	JZ(LabelRef("none"))
	Label("number")
	for i := range r {
		MOVL(at(p, 4*i), to.As32())
		VBROADCASTSS(at(p, 4*(lanes+i)), b)
		column := Mem{Base: w, Index: to, Scale: 1}
		VFMADD231PS(column, b, r[i])
		VFMADD231PS(column.Offset(32), b.AsX(), rest[i])
	}
	ADDQ(I32(4*2*lanes), p)
	countdown(left, "number")
	Label("none")
	free, low := VecPhysical(Y9), VecPhysical(X10)
	columns(r, &free)
	columns(rest, &low)
	for c := range together {
		VMOVUPS(r[c].AsX(), at(t, 4*lanes*c))
		VEXTRACTF128(Imm(1), r[c], at(t, 4*lanes*(together+c)))
		VMOVUPS(rest[c], at(t, 4*lanes*(2*together+c)))
	}
	ADDQ(Imm(4*together), first)
	ADDQ(Imm(4*together), t)
	countdown(group, "rows")
	ADDQ(size, w)
	ADDQ(I32(4*lanes*(panel-1)), t)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}

// transpose16 transposes 16 registers. Afterwards column j is in register column16(j).
func transpose16(r []VecPhysical, free *VecPhysical) {
	for g := range 4 {
		columns(r[4*g:4*g+4], free)
	}
	shuffle := func(imm int) func(ops ...Op) {
		return func(ops ...Op) { VSHUFF32X4(Imm(uint64(imm)), ops[0], ops[1], ops[2]) }
	}
	for c := range 4 {
		interleave(shuffle(0x44), shuffle(0xee), &r[c], &r[4+c], free)
		interleave(shuffle(0x44), shuffle(0xee), &r[8+c], &r[12+c], free)
		interleave(shuffle(0x88), shuffle(0xdd), &r[c], &r[8+c], free)
		interleave(shuffle(0x88), shuffle(0xdd), &r[4+c], &r[12+c], free)
	}
}

// column16 returns the register of column j. The lanes 0, 1, 2, 3 are in registers c, 8+c, 4+c,
// 12+c.
func column16(j int) int { return []int{0, 8, 4, 12}[j/4] + j%4 }
