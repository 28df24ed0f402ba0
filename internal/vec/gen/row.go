package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// For a few rows, the frequencies of a panel are in the lanes, twelve of sixteen.

func few() {
	rowGroup512()
	rowPanels512()
	rowDots512("rowDots512", 8)
	rowDots512("rowDot512", 1)
}

// twelve sets K1 to the mask of a panel's lanes.
func twelve() {
	m := GP32()
	MOVL(U32(1<<panel-1), m)
	KMOVW(m, K1)
}

// trigLanes512 stores the cosines and the sines of the phases in z.
func trigLanes512(z []VecPhysical, cos, sin func(i int) Mem) {
	for i := range z {
		s, g, p := zmm[8+3*i%24], zmm[9+3*i%24], zmm[10+3*i%24]
		trig512(z[i], s, g, p)
		VMOVUPS(z[i], K1, cos(i))
		VMOVUPS(p, K1, sin(i))
	}
}

func rowGroup512() {
	text("rowGroup512", NOSPLIT, "func(dim int, x, w, f *float32)")
	Pragma("noescape")
	Doc("rowGroup512 makes the features f, [2][96], of a row and the eight panels of a group.")
	dim, x, w, f := load("dim"), load("x"), load("w"), load("f")
	twelve()
	s, s3, w4 := GP64(), GP64(), GP64() // the bytes of one panel and of three; pointer to panel 4
	IMUL3Q(I32(4*panel), dim, s)
	LEAQ(Mem{Base: s, Index: s, Scale: 2}, s3)
	LEAQ(Mem{Base: w, Index: s, Scale: 4}, w4)
	z := zmm[:8]
	for _, z := range z {
		VPXORD(z, z, z)
	}
	Label("loop")
	VBROADCASTSS(at(x, 0), zmm[8])
	for i, z := range z {
		m := Mem{Base: []Register{w, w4}[i/4]}
		switch i % 4 {
		case 1:
			m.Index, m.Scale = s, 1
		case 2:
			m.Index, m.Scale = s, 2
		case 3:
			m.Index, m.Scale = s3, 1
		}
		VFMADD231PS(m, zmm[8], K1, z)
	}
	ADDQ(Imm(4), x)
	ADDQ(Imm(4*panel), w)
	ADDQ(Imm(4*panel), w4)
	countdown(dim, "loop")
	trigLanes512(z,
		func(i int) Mem { return at(f, 4*panel*i) },
		func(i int) Mem { return at(f, 4*panel*(group+i)) })
	VZEROUPPER()
	RET()
}

func rowPanels512() {
	text("rowPanels512", NOSPLIT, "func(panels, dim int, x, w, f *float32)")
	Pragma("noescape")
	Doc("rowPanels512 is rowGroup512 for fewer panels.")
	panels, dim, x, w, f := load("panels"), load("dim"), load("x"), load("w"), load("f")
	twelve()
	k, xk := GP64(), GP64()
	Label("panel")
	MOVQ(dim, k)
	MOVQ(x, xk)
	VPXORD(zmm[0], zmm[0], zmm[0])
	Label("loop")
	VBROADCASTSS(at(xk, 0), zmm[8])
	VFMADD231PS(at(w, 0), zmm[8], K1, zmm[0])
	ADDQ(Imm(4), xk)
	ADDQ(Imm(4*panel), w)
	countdown(k, "loop")
	trigLanes512(zmm[:1],
		func(i int) Mem { return at(f, 0) },
		func(i int) Mem { return at(f, 4*panel*group) })
	ADDQ(Imm(4*panel), f)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}

func rowDots512(name string, groups int) {
	text(name, NOSPLIT, "func(n, scores int, mask uint32, f, coef, dst *float32)")
	Pragma("noescape")
	Doc(name+" makes the chains of a row's features and the scores in mask, up to 16, in dst,",
		"[group][2][16], with coefficients of scores numbers a feature:",
		"",
		"\tfor j < n, h, g: dst[g][h][c] = FMA(f[g][h][j], coef[g*96+j][h][c], dst[g][h][c])")
	n, scores := load("n"), load("scores")
	mask := Load(Param("mask"), GP32())
	f, coef, dst := load("f"), load("coef"), load("dst")
	KMOVW(mask, K1)
	SHLQ(Imm(2), scores) // bytes of the coefficients of a feature
	g, g3, sines := GP64(), GP64(), GP64()
	IMUL3Q(I32(2*96), scores, g)
	LEAQ(Mem{Base: g, Index: g, Scale: 2}, g3)
	base := []Register{coef, GP64()}
	LEAQ(Mem{Base: coef, Index: g, Scale: 4}, base[1])
	LEAQ(Mem{Base: coef, Index: scores, Scale: 1}, sines)
	sine := []Register{sines, GP64()}
	LEAQ(Mem{Base: sines, Index: g, Scale: 4}, sine[1])
	SHLQ(Imm(1), scores)
	for i := range 2 * groups {
		VPXORD(zmm[i], zmm[i], zmm[i])
	}
	Label("loop")
	for i := range groups {
		for h, b := range [][]Register{base, sine} {
			m := Mem{Base: b[i/4]}
			switch i % 4 {
			case 1:
				m.Index, m.Scale = g, 1
			case 2:
				m.Index, m.Scale = g, 2
			case 3:
				m.Index, m.Scale = g3, 1
			}
			c := zmm[16+(2*i+h)%16]
			VMOVUPS_Z(m, K1, c)
			VFMADD231PS_BCST(at(f, 4*96*(2*i+h)), c, zmm[2*i+h])
		}
	}
	ADDQ(Imm(4), f)
	for _, b := range []Register{base[0], base[1], sine[0], sine[1]} {
		ADDQ(scores, b)
	}
	countdown(n, "loop")
	for i := range 2 * groups {
		VMOVUPS(zmm[i], at(dst, 64*i))
	}
	VZEROUPPER()
	RET()
}
