package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var zmm = []VecPhysical{
	Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
	Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31,
}

var ymm = []VecPhysical{
	Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15,
	Y16, Y17, Y18, Y19, Y20, Y21, Y22, Y23, Y24, Y25, Y26, Y27, Y28, Y29, Y30, Y31,
}

// tile returns a register of a tile, which is a panel of frequencies times a panel of rows. It is
// in registers 0 to 23, which have the phases first and then the cosines.
func tile(r, v int) VecPhysical { return zmm[2*r+v] }

var cos512, sin512 Mem

// phases512 puts the phases of a panel into the tile. Afterwards w points behind the panel.
func phases512(dim, x, w Register) {
	for r := range panel {
		for v := range 2 {
			VPXORD(tile(r, v), tile(r, v), tile(r, v))
		}
	}
	chains(dim, x, w, 4*lanes, 4*panel, func(u int, x, w Register) {
		VMOVUPS(at(x, 4*lanes*u), zmm[24])
		VMOVUPS(at(x, 4*lanes*u+64), zmm[25])
		for r := range panel {
			b := zmm[26+r%2]
			VBROADCASTSS(at(w, 4*(panel*u+r)), b)
			VFMADD231PS(zmm[24], b, tile(r, 0))
			VFMADD231PS(zmm[25], b, tile(r, 1))
		}
	}, "")
}

// source says where the phases of a routine come from. name is a part of the routine's name, and
// params are parameters of its signature. load reads these parameters, and returns a function that
// puts the phases of the next panel into the tile.
type source struct {
	name, params, doc string
	load              func() func()
}

// products512 computes the phases as products of a panel of rows and panels of frequencies.
var products512 = source{"", "dim int, x, w *float32", "", func() func() {
	dim, x, w := load("dim"), load("x"), load("w")
	return func() { phases512(dim, x, w) }
}}

// some512 is products512 for rows that are 0 in all but a few coordinates. The other coordinates do
// not change a chain.
var some512 = source{"Some", "n int, list *uint32, dim int, x, w *float32", " of the coordinates list[i]/16, for i < n, of all dim", func() func() {
	n, list, size, x, w := load("n"), load("list"), load("dim"), load("x"), load("w")
	left, at16, at48, next := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: size, Index: size, Scale: 2}, size)
	SHLQ(Imm(4), size)
	return func() {
		for r := range panel {
			for v := range 2 {
				VPXORD(tile(r, v), tile(r, v), tile(r, v))
			}
		}
		MOVQ(list, next)
		MOVQ(n, left)
		TESTQ(left, left)
		JZ(LabelRef("none"))
		Label("some")
		MOVL(at(next, 0), at16.As32())
		ADDQ(Imm(4), next)
		LEAQ(Mem{Base: at16, Index: at16, Scale: 2}, at48)
		PREFETCHT0(Mem{Base: w, Index: at48, Scale: 1, Disp: 2048})
		VMOVUPS(Mem{Base: x, Index: at16, Scale: 8}, zmm[24])
		VMOVUPS(Mem{Base: x, Index: at16, Scale: 8, Disp: 64}, zmm[25])
		for r := range panel {
			b := zmm[26+r%2]
			VBROADCASTSS(Mem{Base: w, Index: at48, Scale: 1, Disp: 4 * r}, b)
			VFMADD231PS(zmm[24], b, tile(r, 0))
			VFMADD231PS(zmm[25], b, tile(r, 1))
		}
		countdown(left, "some")
		Label("none")
		ADDQ(size, w)
	}
}}

// nonzero512 makes the list of coordinates for some512.
func nonzero512() {
	text("nonzero512", NOSPLIT, "func(dim int, x *float32, list *uint32) int")
	Pragma("noescape")
	Doc("nonzero512 lists 16 k for each k < dim where x[k*32+i] has a bit other than 0 for some i < 32, and returns their number.")
	dim, x, list := load("dim"), load("x"), load("list")
	n, k, some := GP64(), GP64(), GP64()
	XORQ(n, n)
	XORQ(k, k)
	XORQ(some, some)
	Label("next")
	VMOVUPS(at(x, 0), Z0)
	VPORD(at(x, 64), Z0, Z0)
	VPTESTMD(Z0, Z0, K1)
	MOVL(k.As32(), Mem{Base: list, Index: n, Scale: 4})
	KORTESTW(K1, K1)
	SETNE(some.As8())
	ADDQ(some, n)
	ADDQ(Imm(16), k)
	ADDQ(I32(4*lanes), x)
	countdown(dim, "next")
	VZEROUPPER()
	Store(n, ReturnIndex(0))
	RET()
}

// given512 reads phases from memory. Multiplied by a scale, they are in half turns.
var given512 = source{"Phases", "scale float32, t *float32", " of the phases scale*t", func() func() {
	t := load("t")
	scale, err := Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	return func() {
		VBROADCASTSS(scale.Addr, zmm[24])
		for r := range panel {
			VMULPS(rows(t, r, 0), zmm[24], tile(r, 0))
			VMULPS(rows(t, r, 1), zmm[24], tile(r, 1))
		}
		ADDQ(I32(4*lanes*panel), t)
	}
}}

// trig512 replaces the phases in z by their cosines, and puts their sines into p. It overwrites s
// and g.
func trig512(z, s, g, p VecPhysical) {
	horner := func(table Mem, y VecPhysical) {
		VBROADCASTSS(table.Offset(4*4), y)
		for k := 3; k >= 0; k-- {
			VFMADD213PS_BCST(table.Offset(4*k), s, y)
		}
	}
	VCVTPS2DQ(z, g)
	VPSLLD(Imm(31), g, g)
	VREDUCEPS(Imm(0), z, z)
	VMULPS(z, z, s)
	VPXORD(g, z, z)
	horner(sin512, p)
	VMULPS(z, p, p)
	horner(cos512, z)
	VPXORD(g, z, z)
}

func avx512() {
	cos512, sin512 = table("cos512", cosine, 1), table("sin512", sine, 1)
	sumOne512()
	flush512()
	gradientOne512()
	lanes512()
	nonzero512()
	for _, from := range []source{products512, some512, given512} {
		sum512(from)
		features512(from)
	}
}

// sumOne512 is Sum for one score.
func sumOne512() {
	text("sumOne512", NOSPLIT, "func(panels, dim int, x, w, a *float32, dst *float64)")
	Pragma("noescape")
	Doc("sumOne512 is Sum for one score and a panel of rows:",
		"",
		"\tfor j in groups of 96 frequencies: dst[i] += Σ cos a[cos] + Σ sin a[sin]	in float32 chains")
	panels, dim, x, w, a, dst := load("panels"), load("dim"), load("x"), load("w"), load("a"), load("dst")
	n := GP64()
	f := zmm[28:32] // cosines of rows 0 to 15 and 16 to 31, then sines

	Label("group")
	for _, z := range f {
		VPXORD(z, z, z)
	}
	MOVQ(I32(group), n)
	CMPQ(panels, n)
	CMOVQLT(panels, n)
	SUBQ(n, panels)
	Label("panel")
	phases512(dim, x, w)
	for r := range panel {
		trig512(tile(r, 0), zmm[24], zmm[25], zmm[26])
		trig512(tile(r, 1), zmm[24], zmm[25], zmm[27])
		c := zmm[24]
		VBROADCASTSS(at(a, 4*r), c)
		VFMADD231PS(c, tile(r, 0), f[0])
		VFMADD231PS(c, tile(r, 1), f[1])
		VBROADCASTSS(at(a, 4*(panel+r)), c)
		VFMADD231PS(c, zmm[26], f[2])
		VFMADD231PS(c, zmm[27], f[3])
	}
	ADDQ(I32(4*2*panel), a)
	countdown(n, "panel")
	for v := range 2 {
		for h := range 2 {
			c, s := ymm[28+v], ymm[30+v]
			if h == 1 {
				VEXTRACTF32X8(Imm(1), f[v], ymm[0])
				VEXTRACTF32X8(Imm(1), f[2+v], ymm[1])
				c, s = ymm[0], ymm[1]
			}
			VCVTPS2PD(c, zmm[2])
			VCVTPS2PD(s, zmm[3])
			VADDPD(zmm[2], zmm[3], zmm[2])
			d := at(dst, 8*(16*v+8*h))
			VADDPD(d, zmm[2], zmm[2])
			VMOVUPD(zmm[2], d)
		}
	}
	TESTQ(panels, panels)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// trigAll512 replaces the phases in the tile by their cosines, and stores the sines.
func trigAll512(store func(r int, p0, p1 VecPhysical)) {
	for r := range panel {
		trig512(tile(r, 0), zmm[24], zmm[25], zmm[26])
		trig512(tile(r, 1), zmm[27], zmm[28], zmm[29])
		store(r, zmm[26], zmm[29])
	}
}

func rows(base Register, r, v int) Mem { return at(base, 4*(lanes*r+16*v)) }

func sum512(from source) {
	name := "sum" + from.name + "512"
	text(name, NOSPLIT, "func(panels, scores int, "+from.params+", a, sines, f *float32)")
	Pragma("noescape")
	Doc(name+" adds the panels of one group"+from.doc+" to the chains f, [2][scores][32]:",
		"",
		"\tfor c, j, i: f[0][c][i] = FMA(cos[j][i], a[cos][c][j], f[0][c][i]), f[1] with sines",
		"",
		"sines is memory for 12*32 numbers.")
	panels, scores, phases := load("panels"), load("scores"), from.load()
	a, sines, f := load("a"), load("sines"), load("f")
	n, p := GP64(), GP64()
	Label("panel")
	phases()
	trigAll512(func(r int, p0, p1 VecPhysical) {
		VMOVUPS(p0, rows(sines, r, 0))
		VMOVUPS(p1, rows(sines, r, 1))
	})
	MOVQ(f, p)
	for pass, id := range []string{"Cos", "Sin"} {
		if pass == 1 {
			for r := range panel {
				VMOVUPS(rows(sines, r, 0), tile(r, 0))
				VMOVUPS(rows(sines, r, 1), tile(r, 1))
			}
		}
		MOVQ(scores, n)
		SUBQ(Imm(4), n)
		JL(LabelRef("few" + id))
		Label("four" + "Scores" + id)
		dots512(p, a, 4)
		SUBQ(Imm(4), n)
		JGE(LabelRef("four" + "Scores" + id))
		Label("few" + id)
		ADDQ(Imm(4), n)
		JZ(LabelRef("done" + id))
		Label("score" + id)
		dots512(p, a, 1)
		countdown(n, "score"+id)
		Label("done" + id)
	}
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}

// dots512 adds the tile times the coefficients of n scores to the chains of these scores.
// Afterwards both pointers point behind them.
func dots512(f, a Register, n int) {
	for c := range n {
		VMOVUPS(rows(f, c, 0), zmm[24+2*c])
		VMOVUPS(rows(f, c, 1), zmm[25+2*c])
	}
	for r := range panel {
		for c := range n {
			VFMADD231PS_BCST(at(a, 4*(panel*c+r)), tile(r, 0), zmm[24+2*c])
			VFMADD231PS_BCST(at(a, 4*(panel*c+r)), tile(r, 1), zmm[25+2*c])
		}
	}
	for c := range n {
		VMOVUPS(zmm[24+2*c], rows(f, c, 0))
		VMOVUPS(zmm[25+2*c], rows(f, c, 1))
	}
	ADDQ(I32(4*lanes*n), f)
	ADDQ(I32(4*panel*n), a)
}

func flush512() {
	text("flush512", NOSPLIT, "func(n int, f *float32, dst *float64)")
	Pragma("noescape")
	Doc("flush512 is dst[i] += float64(f[i]) + float64(f[n+i]) for i < n, a multiple of 8.")
	n, f, dst := load("n"), load("f"), load("dst")
	s := GP64()
	LEAQ(Mem{Base: f, Index: n, Scale: 4}, s)
	Label("loop")
	VCVTPS2PD(at(f, 0), Z0)
	VCVTPS2PD(at(s, 0), Z1)
	VADDPD(Z0, Z1, Z0)
	VADDPD(at(dst, 0), Z0, Z0)
	VMOVUPD(Z0, at(dst, 0))
	ADDQ(Imm(32), f)
	ADDQ(Imm(32), s)
	ADDQ(Imm(64), dst)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func gradientOne512() {
	text("gradientOne512", NOSPLIT, "func(panels, dim int, x, w, factors, sines, acc *float32)")
	Pragma("noescape")
	Doc("gradientOne512 is Gradient for one score and a panel of rows:",
		"",
		"\tfor j, i: acc[j][0][i%16] = FMA(cos[j][i], factors[i], acc[j][0][i%16]), acc[j][1] with sines",
		"",
		"sines is memory for 12*32 numbers.")
	panels, phases := load("panels"), products512.load()
	g, sines, acc := load("factors"), load("sines"), load("acc")
	Label("panel")
	phases()
	trigAll512(func(r int, p0, p1 VecPhysical) {
		VMOVUPS(p0, rows(sines, r, 0))
		VMOVUPS(p1, rows(sines, r, 1))
	})
	VMOVUPS(at(g, 0), zmm[24])
	VMOVUPS(at(g, 64), zmm[25])
	for h := range 2 {
		for r := range panel {
			b := zmm[26+r%6]
			VMOVUPS(at(acc, 64*(2*r+h)), b)
			if h == 1 {
				VMOVUPS(rows(sines, r, 0), tile(r, 0))
				VMOVUPS(rows(sines, r, 1), tile(r, 1))
			}
			VFMADD231PS(zmm[24], tile(r, 0), b)
			VFMADD231PS(zmm[25], tile(r, 1), b)
			VMOVUPS(b, at(acc, 64*(2*r+h)))
		}
	}
	ADDQ(I32(64*2*panel), acc)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}

func lanes512() {
	text("lanes512", NOSPLIT, "func(n int, acc *float32, dst *float64)")
	Pragma("noescape")
	Doc("lanes512 is dst[i] += the sum of acc[16i], ..., acc[16i+15], halves first, for i < n, a multiple of 8.")
	n, acc, dst := load("n"), load("acc"), load("dst")
	z, free := append([]VecPhysical(nil), zmm[:8]...), zmm[8]
	add := func(low, high func(ops ...Op), a, b *VecPhysical) { // the sum of what the two shuffles make of a and b
		interleave(low, high, a, b, &free)
		VADDPD(*b, *a, *a)
	}
	shuffle := func(imm uint64) func(ops ...Op) {
		return func(ops ...Op) { VSHUFF64X2(Imm(imm), ops[0], ops[1], ops[2]) }
	}
	Label("loop")
	for i, z := range z {
		VCVTPS2PD(at(acc, 64*i), z)
		VCVTPS2PD(at(acc, 64*i+32), free)
		VADDPD(free, z, z)
	}
	for i := 0; i < 8; i += 4 { // brings together the sums 0 1 2 3 of i, i+1, i+2, i+3
		add(shuffle(0x44), shuffle(0xee), &z[i], &z[i+2])
		add(shuffle(0x44), shuffle(0xee), &z[i+1], &z[i+3])
	}
	add(shuffle(0x88), shuffle(0xdd), &z[0], &z[4])
	add(shuffle(0x88), shuffle(0xdd), &z[1], &z[5])
	add(VUNPCKLPD, VUNPCKHPD, &z[0], &z[1])
	VADDPD(at(dst, 0), z[0], z[0])
	VMOVUPD(z[0], at(dst, 0))
	ADDQ(I32(8*64), acc)
	ADDQ(Imm(64), dst)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// addLanes puts the sum of the four lanes of y and z into x. It adds y and z first.
func addLanes(y, z, x, t Register) {
	VADDPD(z, y, y)
	VEXTRACTF128(Imm(1), y, t)
	VADDPD(t, x, x)
	VPERMILPD(Imm(1), x, t)
	VADDSD(t, x, x)
}

func features512(from source) {
	name := "features" + from.name + "512"
	text(name, NOSPLIT, "func(panels int, "+from.params+", dst *float32)")
	Pragma("noescape")
	Doc(name + " is Features" + from.doc + ".")
	panels, phases, dst := load("panels"), from.load(), load("dst")
	Label("panel")
	phases()
	trigAll512(func(r int, p0, p1 VecPhysical) {
		VMOVUPS(tile(r, 0), rows(dst, r, 0))
		VMOVUPS(tile(r, 1), rows(dst, r, 1))
		VMOVUPS(p0, rows(dst, panel+r, 0))
		VMOVUPS(p1, rows(dst, panel+r, 1))
	})
	ADDQ(I32(4*2*panel*lanes), dst)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}
