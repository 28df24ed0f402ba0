package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// linear has the loops of linear algebra. Nothing in float64 is fused.
func linear() {
	product512()
	product2()
	for _, v := range []vectors{{"512", zmm, ymm, 8}, {"2", ymm, xmm, 4}} {
		v.widen()
		v.dot()
		v.axpy()
		v.rotate()
	}
}

var xmm = []VecPhysical{X0, X1, X2, X3, X4, X5, X6, X7, X8, X9, X10, X11, X12, X13, X14, X15}

// vectors are registers of n float64, and those of n float32.
type vectors struct {
	name         string
	wide, narrow []VecPhysical
	n            int
}

func product512() {
	TEXT("product512", NOSPLIT, "func(dim int, x, w, t *float32)")
	Pragma("noescape")
	Doc("product512 is t[i][j] = FMA(w[k][i], x[k][j], t[i][j]) from 0, for k = 0, 1, ..., dim-1.")
	dim, x, w, t := load("dim"), load("x"), load("w"), load("t")
	phases512(dim, x, w)
	for r := range panel {
		VMOVUPS(tile(r, 0), rows(t, r, 0))
		VMOVUPS(tile(r, 1), rows(t, r, 1))
	}
	VZEROUPPER()
	RET()
}

func product2() {
	TEXT("product2", NOSPLIT, "func(dim int, x, w, t *float32)")
	Pragma("noescape")
	Doc("product2 is t[i][j] = FMA(w[k][i], x[k][j], t[i][j]) from 0, for k = 0, 1, ..., dim-1.")
	dim, x, w, t := load("dim"), load("x"), load("w"), load("t")
	quarters2(dim, x, w, func(q, h int) {
		for r := range half {
			VMOVUPS(quarter(r, 0), lane(t, half*q+r, h, 0))
			VMOVUPS(quarter(r, 1), lane(t, half*q+r, h, 1))
		}
	})
	VZEROUPPER()
	RET()
}

func (v vectors) widen() {
	TEXT("widen"+v.name, NOSPLIT, "func(n int, f *float32, dst *float64)")
	Pragma("noescape")
	Doc("widen" + v.name + " is dst[i] += float64(f[i]) for i < n, a multiple of a vector's length.")
	n, f, dst := load("n"), load("f"), load("dst")
	z := v.wide[0]
	Label("loop")
	VCVTPS2PD(at(f, 0), z)
	VADDPD(at(dst, 0), z, z)
	VMOVUPD(z, at(dst, 0))
	ADDQ(Imm(uint64(4*v.n)), f)
	ADDQ(Imm(uint64(8*v.n)), dst)
	SUBQ(Imm(uint64(v.n)), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func (v vectors) dot() {
	TEXT("dot"+v.name, NOSPLIT, "func(n int, x, y, lanes *float64)")
	Pragma("noescape")
	Doc("dot" + v.name + " is lanes[i%8] += x[i]*y[i] for i < n, a multiple of 8.")
	n, x, y, lanes := load("n"), load("x"), load("y"), load("lanes")
	each := func(f func(i int, disp int)) {
		for i := range 8 / v.n {
			f(i, 8*v.n*i)
		}
	}
	each(func(i, disp int) { VMOVUPD(at(lanes, disp), v.wide[i]) })
	Label("loop")
	each(func(i, disp int) {
		VMOVUPD(at(x, disp), v.wide[2+i])
		VMULPD(at(y, disp), v.wide[2+i], v.wide[2+i])
		VADDPD(v.wide[2+i], v.wide[i], v.wide[i])
	})
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("loop"))
	each(func(i, disp int) { VMOVUPD(v.wide[i], at(lanes, disp)) })
	VZEROUPPER()
	RET()
}

func (v vectors) axpy() {
	TEXT("axpy"+v.name, NOSPLIT, "func(n int, a float64, x, y *float64)")
	Pragma("noescape")
	Doc("axpy" + v.name + " is y[i] += a*x[i] for i < n, a multiple of 8.")
	n, x, y := load("n"), load("x"), load("y")
	a, z := v.wide[0], v.wide[1]
	Load(Param("a"), X0)
	VBROADCASTSD(X0, a)
	Label("loop")
	for i := range 8 / v.n {
		VMULPD(at(x, 8*v.n*i), a, z)
		VADDPD(at(y, 8*v.n*i), z, z)
		VMOVUPD(z, at(y, 8*v.n*i))
	}
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func (v vectors) rotate() {
	TEXT("rotate"+v.name, NOSPLIT, "func(n int, c, s float64, x, y *float64)")
	Pragma("noescape")
	Doc("rotate" + v.name + " is x[i], y[i] = c*x[i]-s*y[i], s*x[i]+c*y[i] for i < n, a multiple of 8.")
	n, x, y := load("n"), load("x"), load("y")
	c, s := v.wide[0], v.wide[1]
	Load(Param("c"), X0)
	VBROADCASTSD(X0, c)
	Load(Param("s"), X1)
	VBROADCASTSD(X1, s)
	Label("loop")
	for i := range 8 / v.n {
		a, b, p, q := v.wide[2], v.wide[3], v.wide[4], v.wide[5]
		VMOVUPD(at(x, 8*v.n*i), a)
		VMOVUPD(at(y, 8*v.n*i), b)
		VMULPD(c, a, p)
		VMULPD(s, b, q)
		VSUBPD(q, p, p)
		VMOVUPD(p, at(x, 8*v.n*i))
		VMULPD(s, a, p)
		VMULPD(c, b, q)
		VADDPD(q, p, p)
		VMOVUPD(p, at(y, 8*v.n*i))
	}
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
