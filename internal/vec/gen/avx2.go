package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A panel of frequencies times a panel of rows consists of four tiles of six frequencies and 16
// rows. A tile is in registers 0 to 11.
const half = panel / 2

func quarter(r, v int) VecPhysical { return ymm[2*r+v] }

var cos2, sin2 Mem

// quarters2 iterates over the tiles of a panel: q is 0 or 1 for the half of the frequencies, and h
// for the half of the rows. For each call of body, the phases of the tile are in registers.
// Afterwards w points behind the panel.
func quarters2(dim, x, w Register, body func(q, h int)) {
	wp, xp := GP64(), GP64()
	for h := range 2 {
		for q := range 2 {
			for _, y := range ymm[:12] {
				VXORPS(y, y, y)
			}
			LEAQ(at(w, 4*half*q), wp)
			LEAQ(at(x, 64*h), xp)
			chains(dim, xp, wp, 4*lanes, 4*panel, func(u int, x, w Register) {
				VMOVUPS(at(x, 4*lanes*u), ymm[12])
				VMOVUPS(at(x, 4*lanes*u+32), ymm[13])
				for r := range half {
					b := ymm[14+r%2]
					VBROADCASTSS(at(w, 4*(panel*u+r)), b)
					VFMADD231PS(ymm[12], b, quarter(r, 0))
					VFMADD231PS(ymm[13], b, quarter(r, 1))
				}
			}, string(rune('A'+2*h+q)))
			body(q, h)
		}
	}
	LEAQ(at(wp, -4*half), w)
}

// source2 is source for tiles: load returns a function that iterates over the tiles of the next
// panel.
type source2 struct {
	name, params, doc string
	load              func() func(body func(q, h int))
}

var products2 = source2{"", "dim int, x, w *float32", "", func() func(func(q, h int)) {
	dim, x, w := load("dim"), load("x"), load("w")
	return func(body func(q, h int)) { quarters2(dim, x, w, body) }
}}

// some2 is some512 with tiles.
var some2 = source2{"Some", some512.params, some512.doc, func() func(func(q, h int)) {
	n, list, size, x, w := load("n"), load("list"), load("dim"), load("x"), load("w")
	left, next, at16 := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: size, Index: size, Scale: 2}, size)
	SHLQ(Imm(4), size)
	return func(body func(q, h int)) {
		for h := range 2 {
			for q := range 2 {
				id := string(rune('A' + 2*h + q))
				for _, y := range ymm[:12] {
					VXORPS(y, y, y)
				}
				MOVQ(list, next)
				MOVQ(n, left)
				TESTQ(left, left)
				JZ(LabelRef("none" + id))
				Label("some" + id)
				MOVL(at(next, 0), at16.As32())
				ADDQ(Imm(4), next)
				VMOVUPS(Mem{Base: x, Index: at16, Scale: 8, Disp: 64 * h}, ymm[12])
				VMOVUPS(Mem{Base: x, Index: at16, Scale: 8, Disp: 64*h + 32}, ymm[13])
				LEAQ(Mem{Base: at16, Index: at16, Scale: 2}, at16)
				for r := range half {
					b := ymm[14+r%2]
					VBROADCASTSS(Mem{Base: w, Index: at16, Scale: 1, Disp: 4 * (half*q + r)}, b)
					VFMADD231PS(ymm[12], b, quarter(r, 0))
					VFMADD231PS(ymm[13], b, quarter(r, 1))
				}
				countdown(left, "some"+id)
				Label("none" + id)
				body(q, h)
			}
		}
		ADDQ(size, w)
	}
}}

// nonzero2 makes the list of coordinates for some2.
func nonzero2() {
	text("nonzero2", NOSPLIT, "func(dim int, x *float32, list *uint32) int")
	Pragma("noescape")
	Doc("nonzero2 lists 16 k for each k < dim where x[k*32+i] has a bit other than 0 for some i < 32, and returns their number.")
	dim, x, list := load("dim"), load("x"), load("list")
	n, k, some := GP64(), GP64(), GP64()
	XORQ(n, n)
	XORQ(k, k)
	XORQ(some, some)
	Label("next")
	VMOVUPS(at(x, 0), Y0)
	VMOVUPS(at(x, 32), Y1)
	VORPS(at(x, 64), Y0, Y0)
	VORPS(at(x, 96), Y1, Y1)
	VORPS(Y1, Y0, Y0)
	VPTEST(Y0, Y0)
	MOVL(k.As32(), Mem{Base: list, Index: n, Scale: 4})
	SETNE(some.As8())
	ADDQ(some, n)
	ADDQ(Imm(16), k)
	ADDQ(I32(4*lanes), x)
	countdown(dim, "next")
	VZEROUPPER()
	Store(n, ReturnIndex(0))
	RET()
}

var given2 = source2{"Phases", "scale float32, t *float32", " of the phases scale*t", func() func(func(q, h int)) {
	t := load("t")
	scale, err := Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	return func(body func(q, h int)) {
		for h := range 2 {
			for q := range 2 {
				VBROADCASTSS(scale.Addr, ymm[12])
				for r := range half {
					for v := range 2 {
						VMULPS(lane(t, half*q+r, h, v), ymm[12], quarter(r, v))
					}
				}
				body(q, h)
			}
		}
		ADDQ(I32(4*lanes*panel), t)
	}
}}

// trig2 replaces the phases in z by their cosines, and puts their sines into p. It overwrites s and
// g.
func trig2(z, s, g, p VecPhysical) {
	horner := func(table Mem, y VecPhysical) {
		VMOVUPS(table.Offset(32*4), y)
		for k := 3; k >= 0; k-- {
			VFMADD213PS(table.Offset(32*k), s, y)
		}
	}
	VROUNDPS(Imm(8), z, s)
	VCVTPS2DQ(z, g)
	VPSLLD(Imm(31), g, g)
	VSUBPS(s, z, z)
	VMULPS(z, z, s)
	VPXOR(g, z, z)
	horner(sin2, p)
	VMULPS(z, p, p)
	horner(cos2, z)
	VPXOR(g, z, z)
}

func avx2() {
	cos2, sin2 = table("cos2", cosine, 8), table("sin2", sine, 8)
	sumOne2()
	flush2()
	gradientOne2()
	lanes2()
	nonzero2()
	for _, from := range []source2{products2, some2, given2} {
		sum2(from)
		features2(from)
	}
}

// lane returns the operand for 8 rows of frequency r in the features of a panel.
func lane(base Register, r, h, v int) Mem { return at(base, 4*(lanes*r+16*h+8*v)) }

func sumOne2() {
	text("sumOne2", NOSPLIT, "func(panels, dim int, x, w, a, f *float32)")
	Pragma("noescape")
	Doc("sumOne2 adds the panels of one group to the chains f, [2][32], of one score.")
	panels, dim, x, w, a, f := load("panels"), load("dim"), load("x"), load("w"), load("a"), load("f")
	Label("panel")
	quarters2(dim, x, w, func(q, h int) {
		s, p, c, sn := ymm[12], ymm[13], ymm[14], ymm[15]
		for v := range 2 {
			for r := range half {
				z := quarter(r, v)
				if r == 0 { // there is no other register
					trig2(z, s, sn, p)
					VMOVUPS(lane(f, 0, h, v), c)
					VMOVUPS(lane(f, 1, h, v), sn)
				} else {
					trig2(z, s, quarter(0, v), p)
				}
				VBROADCASTSS(at(a, 4*(half*q+r)), s)
				VFMADD231PS(s, z, c)
				VBROADCASTSS(at(a, 4*(panel+half*q+r)), s)
				VFMADD231PS(s, p, sn)
			}
			VMOVUPS(c, lane(f, 0, h, v))
			VMOVUPS(sn, lane(f, 1, h, v))
		}
	})
	ADDQ(I32(4*2*panel), a)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}

// trigAll2 replaces the phases in the tile by their cosines, and stores the sines.
func trigAll2(store func(r, v int, p VecPhysical)) {
	for r := range half {
		for v := range 2 {
			trig2(quarter(r, v), ymm[12], ymm[13], ymm[14+v])
			store(r, v, ymm[14+v])
		}
	}
}

func sum2(from source2) {
	name := "sum" + from.name + "2"
	text(name, NOSPLIT, "func(panels, scores int, "+from.params+", a, sines, f *float32)")
	Pragma("noescape")
	Doc(name+" adds the panels of one group"+from.doc+" to the chains f, [2][scores][32]:",
		"",
		"\tfor c, j, i: f[0][c][i] = FMA(cos[j][i], a[cos][c][j], f[0][c][i]), f[1] with sines",
		"",
		"sines is memory for 12*32 numbers.")
	panels, scores, tiles := load("panels"), load("scores"), from.load()
	a, sines, f := load("a"), load("sines"), load("f")
	n, p, ap := GP64(), GP64(), GP64()
	Label("panel")
	tiles(func(q, h int) {
		trigAll2(func(r, v int, p VecPhysical) { VMOVUPS(p, lane(sines, r, 0, v)) })
		MOVQ(f, p)
		MOVQ(a, ap)
		for pass := range 2 {
			id := string(rune('A'+2*h+q)) + []string{"Cos", "Sin"}[pass]
			if pass == 1 {
				for r := range half {
					VMOVUPS(lane(sines, r, 0, 0), quarter(r, 0))
					VMOVUPS(lane(sines, r, 0, 1), quarter(r, 1))
				}
			}
			MOVQ(scores, n)
			Label("score" + id)
			VMOVUPS(lane(p, 0, h, 0), ymm[12])
			VMOVUPS(lane(p, 0, h, 1), ymm[13])
			for r := range half {
				b := ymm[14+r%2]
				VBROADCASTSS(at(ap, 4*(half*q+r)), b)
				VFMADD231PS(b, quarter(r, 0), ymm[12])
				VFMADD231PS(b, quarter(r, 1), ymm[13])
			}
			VMOVUPS(ymm[12], lane(p, 0, h, 0))
			VMOVUPS(ymm[13], lane(p, 0, h, 1))
			ADDQ(I32(4*lanes), p)
			ADDQ(I32(4*panel), ap)
			countdown(n, "score"+id)
		}
	})
	MOVQ(ap, a)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}

func flush2() {
	text("flush2", NOSPLIT, "func(n int, f *float32, dst *float64)")
	Pragma("noescape")
	Doc("flush2 is dst[i] += float64(f[i]) + float64(f[n+i]) for i < n, a multiple of 4.")
	n, f, dst := load("n"), load("f"), load("dst")
	s := GP64()
	LEAQ(Mem{Base: f, Index: n, Scale: 4}, s)
	Label("loop")
	VCVTPS2PD(at(f, 0), Y0)
	VCVTPS2PD(at(s, 0), Y1)
	VADDPD(Y0, Y1, Y0)
	VADDPD(at(dst, 0), Y0, Y0)
	VMOVUPD(Y0, at(dst, 0))
	ADDQ(Imm(16), f)
	ADDQ(Imm(16), s)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(4), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func gradientOne2() {
	text("gradientOne2", NOSPLIT, "func(panels, dim int, x, w, factors, sines, acc *float32)")
	Pragma("noescape")
	Doc("gradientOne2 is Gradient for one score and a panel of rows:",
		"",
		"\tfor j, i: acc[j][0][i%16] = FMA(cos[j][i], factors[i], acc[j][0][i%16]), acc[j][1] with sines",
		"",
		"sines is memory for 12*32 numbers.")
	panels, tiles := load("panels"), products2.load()
	g, sines, acc := load("factors"), load("sines"), load("acc")
	Label("panel")
	tiles(func(q, h int) {
		trigAll2(func(r, v int, p VecPhysical) { VMOVUPS(p, lane(sines, r, 0, v)) })
		VMOVUPS(at(g, 64*h), ymm[12])
		VMOVUPS(at(g, 64*h+32), ymm[13])
		for s := range 2 {
			for r := range half {
				for v := range 2 {
					b, chain := ymm[14+v], at(acc, 64*(2*(half*q+r)+s)+32*v)
					VMOVUPS(chain, b)
					if s == 1 {
						VMOVUPS(lane(sines, r, 0, v), quarter(r, v))
					}
					VFMADD231PS(ymm[12+v], quarter(r, v), b)
					VMOVUPS(b, chain)
				}
			}
		}
	})
	ADDQ(I32(64*2*panel), acc)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}

func lanes2() {
	text("lanes2", NOSPLIT, "func(n int, acc *float32, dst *float64)")
	Pragma("noescape")
	Doc("lanes2 is dst[i] += the sum of acc[16i], ..., acc[16i+15], halves first, for i < n.")
	n, acc, dst := load("n"), load("acc"), load("dst")
	Label("loop")
	for h, y := range []VecPhysical{Y0, Y1} {
		VCVTPS2PD(at(acc, 16*h), y)
		VCVTPS2PD(at(acc, 32+16*h), Y2)
		VADDPD(Y2, y, y)
	}
	addLanes(Y0, Y1, X0, X1)
	VADDSD(at(dst, 0), X0, X0)
	VMOVSD(X0, at(dst, 0))
	ADDQ(Imm(64), acc)
	ADDQ(Imm(8), dst)
	countdown(n, "loop")
	VZEROUPPER()
	RET()
}

func features2(from source2) {
	name := "features" + from.name + "2"
	text(name, NOSPLIT, "func(panels int, "+from.params+", dst *float32)")
	Pragma("noescape")
	Doc(name + " is Features" + from.doc + ".")
	panels, tiles, dst := load("panels"), from.load(), load("dst")
	Label("panel")
	tiles(func(q, h int) {
		trigAll2(func(r, v int, p VecPhysical) {
			VMOVUPS(quarter(r, v), lane(dst, half*q+r, h, v))
			VMOVUPS(p, lane(dst, panel+half*q+r, h, v))
		})
	})
	ADDQ(I32(4*2*panel*lanes), dst)
	countdown(panels, "panel")
	VZEROUPPER()
	RET()
}
