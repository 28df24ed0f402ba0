package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func squares2() {
	text("squares2", NOSPLIT, "func(n int, x, sums *float64)")
	Pragma("noescape")
	Doc("squares2 is sums[i%8][c] += x[i][c]*x[i][c] for c < 8 and i < n, a multiple of 8 above 0.")
	n, x, sums := load("n"), load("x"), load("sums")
	left, from := GP64(), GP64()
	for h := range 2 {
		id := string(rune('A' + h))
		for l := range 8 {
			VMOVUPD(at(sums, 64*l+32*h), ymm[l])
		}
		MOVQ(n, left)
		MOVQ(x, from)
		Label("loop" + id)
		for l := range 8 {
			v := ymm[8+l]
			VMOVUPD(at(from, 64*l+32*h), v)
			VMULPD(v, v, v)
			VADDPD(v, ymm[l], ymm[l])
		}
		ADDQ(I32(512), from)
		SUBQ(Imm(8), left)
		JNZ(LabelRef("loop" + id))
		for l := range 8 {
			VMOVUPD(ymm[l], at(sums, 64*l+32*h))
		}
	}
	VZEROUPPER()
	RET()
}

// fourRows returns the operand for row r of four rows that are stride bytes apart.
func fourRows(base, stride, stride3 Register, r int) Mem {
	m := Mem{Base: base}
	switch r {
	case 1, 2:
		m.Index, m.Scale = stride, uint8(r)
	case 3:
		m.Index, m.Scale = stride3, 1
	}
	return m
}

func rowDots2() {
	text("rowDots2", NOSPLIT, "func(n, stride int, l, b, sums *float64)")
	Pragma("noescape")
	Doc("rowDots2 is sums[r][j%8] += l[r*stride+j]*b[j] from 0, for r < 8 and j < n, a multiple of 8 above 0.")
	n, stride, row, b, sums := load("n"), load("stride"), load("l"), load("b"), load("sums")
	left, x, l, three := GP64(), GP64(), GP64(), GP64()
	SHLQ(Imm(3), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	for h := range 2 {
		id := string(rune('A' + h))
		for i := range 8 {
			VXORPD(ymm[i], ymm[i], ymm[i])
		}
		MOVQ(n, left)
		MOVQ(b, x)
		MOVQ(row, l)
		Label("loop" + id)
		for p := range 2 {
			VMOVUPD(at(x, 32*p), ymm[8+p])
		}
		for r := range 4 {
			for p := range 2 {
				v := ymm[10+(2*r+p)%6]
				VMULPD(fourRows(l, stride, three, r).Offset(32*p), ymm[8+p], v)
				VADDPD(v, ymm[2*r+p], ymm[2*r+p])
			}
		}
		ADDQ(Imm(64), x)
		ADDQ(Imm(64), l)
		SUBQ(Imm(8), left)
		JNZ(LabelRef("loop" + id))
		for i := range 8 {
			VMOVUPD(ymm[i], at(sums, 256*h+32*i))
		}
		LEAQ(Mem{Base: row, Index: stride, Scale: 4}, row)
	}
	VZEROUPPER()
	RET()
}

func lessRows2() {
	text("lessRows2", NOSPLIT, "func(n, stride int, l, v, b *float64)")
	Pragma("noescape")
	Doc("lessRows2 is b[j] -= l[r*stride+j]*v[r] for r = 7, 6, ..., 0 and each j < n, a multiple of 8 above 0.")
	n, stride, l, v, b := load("n"), load("stride"), load("l"), load("v"), load("b")
	high, three := GP64(), GP64()
	SHLQ(Imm(3), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	LEAQ(Mem{Base: l, Index: stride, Scale: 4}, high)
	for r := range 8 {
		VBROADCASTSD(at(v, 8*r), ymm[r])
	}
	Label("loop")
	for p := range 2 {
		VMOVUPD(at(b, 32*p), ymm[8+p])
	}
	for r := 7; r >= 0; r-- {
		base := l
		if r >= 4 {
			base = high
		}
		for p := range 2 {
			u := ymm[10+(2*r+p)%6]
			VMULPD(fourRows(base, stride, three, r%4).Offset(32*p), ymm[r], u)
			VSUBPD(u, ymm[8+p], ymm[8+p])
		}
	}
	for p := range 2 {
		VMOVUPD(ymm[8+p], at(b, 32*p))
	}
	ADDQ(Imm(64), l)
	ADDQ(Imm(64), high)
	ADDQ(Imm(64), b)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
