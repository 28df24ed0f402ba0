package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// solves keeps a vector of right-hand sides in each register, and the lanes of vec.Dot in eight
// registers.
func (v vectors) solves() {
	text("solves"+v.name, NOSPLIT, "func(n int, l, b *float64)")
	Pragma("noescape")
	Doc("solves"+v.name+" is CholeskySolve for the first columns of b, n x 8, as many as a vector has:",
		"",
		"\tfor i: b[i] = (b[i] - Σ l[i][j]*b[j] for j < i, in the order of Dot) / l[i][i]",
		"\tfor i, from the last: b[i] /= l[i][i], b[j] -= l[i][j]*b[i] for j < i")
	n, row, b := load("n"), load("l"), load("b")
	i, left, x, r, step := GP64(), GP64(), GP64(), GP64(), GP64()
	lane, u, t := v.wide[:8], v.wide[8], v.wide[9:12]
	MOVQ(n, step)
	SHLQ(Imm(3), step)
	XORQ(i, i)
	product := func(to int) {
		VBROADCASTSD(at(r, 8*to), t[to%2])
		VMULPD(at(x, 64*to), t[to%2], t[to%2])
		VADDPD(t[to%2], lane[to], lane[to])
	}
	Label("forward")
	for _, z := range lane {
		VXORPD(z, z, z)
	}
	MOVQ(b, x)
	MOVQ(row, r)
	MOVQ(i, left)
	SUBQ(Imm(8), left)
	JL(LabelRef("rest"))
	Label("eight")
	for to := range 8 {
		product(to)
	}
	ADDQ(I32(8*64), x)
	ADDQ(I32(8*8), r)
	SUBQ(Imm(8), left)
	JGE(LabelRef("eight"))
	Label("rest")
	ADDQ(Imm(8), left)
	end := GP64()
	MOVQ(left, end)
	for to := range 7 {
		SUBQ(Imm(1), end)
		JL(LabelRef("sum"))
		product(to)
	}
	Label("sum")
	for _, half := range []int{4, 2, 1} {
		for to := range half {
			VADDPD(lane[to+half], lane[to], lane[to])
		}
	}
	SHLQ(Imm(3), left)
	ADDQ(left, r) // to the diagonal
	SHLQ(Imm(3), left)
	ADDQ(left, x)
	VMOVUPD(at(x, 0), u)
	VSUBPD(lane[0], u, u)
	VBROADCASTSD(at(r, 0), t[0])
	VDIVPD(t[0], u, u)
	VMOVUPD(u, at(x, 0))
	ADDQ(step, row)
	INCQ(i)
	CMPQ(i, n)
	JLT(LabelRef("forward"))

	Label("backward")
	SUBQ(step, row)
	VMOVUPD(at(x, 0), u)
	VBROADCASTSD(at(r, 0), t[0])
	VDIVPD(t[0], u, u)
	VMOVUPD(u, at(x, 0))
	DECQ(i)
	JZ(LabelRef("end"))
	MOVQ(b, x)
	MOVQ(row, r)
	MOVQ(i, left)
	minus := func(to int) {
		z, y := lane[to], t[to%2]
		VBROADCASTSD(at(r, 8*to), y)
		VMULPD(u, y, y)
		VMOVUPD(at(x, 64*to), z)
		VSUBPD(y, z, z)
		VMOVUPD(z, at(x, 64*to))
	}
	SUBQ(Imm(8), left)
	JL(LabelRef("few"))
	Label("many")
	for to := range 8 {
		minus(to)
	}
	ADDQ(I32(8*64), x)
	ADDQ(I32(8*8), r)
	SUBQ(Imm(8), left)
	JGE(LabelRef("many"))
	Label("few")
	ADDQ(Imm(8), left)
	JZ(LabelRef("next"))
	Label("one")
	minus(0)
	ADDQ(I32(64), x)
	ADDQ(I32(8), r)
	DECQ(left)
	JNZ(LabelRef("one"))
	Label("next")
	// x is at row i now. The next row is before it, and its diagonal before the one of this row.
	SUBQ(I32(64), x)
	SUBQ(I32(8), r)
	SUBQ(step, r)
	JMP(LabelRef("backward"))
	Label("end")
	VZEROUPPER()
	RET()
}
