package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// linear emits the loops of linear algebra. No operation in float64 is fused.
func linear() {
	for _, from := range []source{products512, some512} {
		product512(from)
	}
	for _, from := range []source2{products2, some2} {
		product2(from)
	}
	eachDot512()
	squares2()
	rowDots2()
	lessRows2()
	for _, v := range []vectors{{"512", zmm, ymm, 8}, {"2", ymm, xmm, 4}} {
		v.widen()
		v.dot()
		v.axpy()
		v.rotate()
		v.panel()
		v.exp()
		v.solves()
	}
}

var xmm = []VecPhysical{X0, X1, X2, X3, X4, X5, X6, X7, X8, X9, X10, X11, X12, X13, X14, X15}

// vectors names registers of n float64, and the registers of n float32 of which these are the wide
// ones.
type vectors struct {
	name         string
	wide, narrow []VecPhysical
	n            int
}

func product512(from source) {
	name := "product" + from.name + "512"
	text(name, NOSPLIT, "func("+from.params+", t *float32)")
	Pragma("noescape")
	Doc(name + productDoc + from.doc + ".")
	phases, t := from.load(), load("t")
	phases()
	for r := range panel {
		VMOVUPS(tile(r, 0), rows(t, r, 0))
		VMOVUPS(tile(r, 1), rows(t, r, 1))
	}
	VZEROUPPER()
	RET()
}

const productDoc = " is t[i][j] = FMA(w[k][i], x[k][j], t[i][j]) from 0, for k = 0, 1, ..., dim-1"

func product2(from source2) {
	name := "product" + from.name + "2"
	text(name, NOSPLIT, "func("+from.params+", t *float32)")
	Pragma("noescape")
	Doc(name + productDoc + from.doc + ".")
	tiles, t := from.load(), load("t")
	tiles(func(q, h int) {
		for r := range half {
			VMOVUPS(quarter(r, 0), lane(t, half*q+r, h, 0))
			VMOVUPS(quarter(r, 1), lane(t, half*q+r, h, 1))
		}
	})
	VZEROUPPER()
	RET()
}

func (v vectors) widen() {
	text("widen"+v.name, NOSPLIT, "func(n int, f *float32, dst *float64)")
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
	text("dot"+v.name, NOSPLIT, "func(n int, x, y, lanes *float64)")
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

// eachDot512 keeps the lanes of Dot in the lanes of a vector.
func eachDot512() {
	text("eachDot512", NOSPLIT, "func(rows, n int, x, w, dst *float64)")
	Pragma("noescape")
	Doc("eachDot512 is dst[i] = Dot(x, w[i]), for i < rows, each of n numbers.")
	count, n, x, w, dst := load("rows"), load("n"), load("x"), load("w"), load("dst")
	p, left := GP64(), GP64()
	sum, z := zmm[0], zmm[1]
	Label("row")
	VPXORD(sum, sum, sum)
	MOVQ(x, p)
	MOVQ(n, left)
	Label("vector")
	step := firstBits(left, K1)
	VMOVUPD_Z(at(p, 0), K1, z)
	VMULPD_Z(at(w, 0), z, K1, z)
	VADDPD(z, sum, K1, sum)
	ADDQ(Imm(64), p)
	LEAQ(Mem{Base: w, Index: step, Scale: 8}, w)
	TESTQ(left, left)
	JNZ(LabelRef("vector"))
	VEXTRACTF64X4(Imm(1), sum, ymm512(1))
	VADDPD(ymm512(1), ymm512(0), ymm512(0))
	VEXTRACTF128(Imm(1), ymm512(0), xmm512(1))
	VADDPD(xmm512(1), xmm512(0), xmm512(0))
	VUNPCKHPD(xmm512(0), xmm512(0), xmm512(1))
	VADDSD(xmm512(1), xmm512(0), xmm512(0))
	VMOVSD(xmm512(0), at(dst, 0))
	ADDQ(Imm(8), dst)
	countdown(count, "row")
	VZEROUPPER()
	RET()
}

func (v vectors) axpy() {
	text("axpy"+v.name, NOSPLIT, "func(n int, a float64, x, y *float64)")
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
	text("rotate"+v.name, NOSPLIT, "func(n int, c, s float64, x, y *float64)")
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

// panel keeps as many of the eight chains of a column in registers as there is room for. If that is
// not all of them, it solves in memory.
func (v vectors) panel() {
	text("panel"+v.name, NOSPLIT, "func(k int, w, x, r *float64)")
	Pragma("noescape")
	Doc("panel"+v.name+" is t[j][i] -= w[m][j]*x[m][i] for m = 0, 1, ..., k-1, for the eight rows t of x after the first k,",
		"and then, if r is not nil, t[j][i] *= r[j] and t[l][i] -= w[k+j][l]*t[j][i] for l > j, for j = 0, 1, ..., 7.")
	k, r, t := load("k"), load("r"), GP64()
	w, x, left := GP64(), GP64(), GP64()
	parts := 8 / v.n // vectors in a row
	columns := 8 / parts
	row, bound, product := v.wide[8:8+parts], v.wide[8+parts], v.wide[9+parts]
	minus := func(a Mem, y []VecPhysical, to []VecPhysical) {
		VBROADCASTSD(a, bound)
		for p := range parts {
			VMULPD(y[p], bound, product)
			VSUBPD(product, to[p], to[p])
		}
	}
	chains := func(j int) []VecPhysical { return v.wide[j*parts : (j+1)*parts] }
	move := func(j int, in bool) {
		for p, z := range chains(j % columns) {
			if m := at(t, 64*j+8*v.n*p); in {
				VMOVUPD(m, z)
			} else {
				VMOVUPD(z, m)
			}
		}
	}
	Load(Param("x"), t)
	MOVQ(k, left)
	SHLQ(Imm(6), left)
	ADDQ(left, t)
	for from := 0; from < 8; from += columns {
		id := string(rune('0' + from))
		Load(Param("w"), w)
		Load(Param("x"), x)
		MOVQ(k, left)
		for j := range columns {
			move(from+j, true)
		}
		TESTQ(left, left)
		JZ(LabelRef("done" + id))
		Label("loop" + id)
		for p := range parts {
			VMOVUPD(at(x, 8*v.n*p), row[p])
		}
		for j := range columns {
			minus(at(w, 8*(from+j)), row, chains(j))
		}
		ADDQ(Imm(64), w)
		ADDQ(Imm(64), x)
		DECQ(left)
		JNZ(LabelRef("loop" + id))
		Label("done" + id)
		if parts > 1 {
			for j := range columns {
				move(from+j, false)
			}
		}
	}
	TESTQ(r, r)
	JZ(LabelRef("end"))
	for j := range 8 {
		own := chains(j)
		if parts > 1 {
			own = row
			for p := range parts {
				VMOVUPD(at(t, 64*j+8*v.n*p), own[p])
			}
		}
		VBROADCASTSD(at(r, 8*j), bound)
		for p := range parts {
			VMULPD(bound, own[p], own[p])
			if parts > 1 {
				VMOVUPD(own[p], at(t, 64*j+8*v.n*p))
			}
		}
		for l := j + 1; l < 8; l++ {
			if parts > 1 {
				move(l, true)
			}
			minus(at(w, 64*j+8*l), own, chains(l%columns))
			if parts > 1 {
				move(l, false)
			}
		}
	}
	Label("end")
	if parts == 1 {
		for j := range 8 {
			move(j, false)
		}
	}
	VZEROUPPER()
	RET()
}

// exp is the scalar code for a vector: products are rounded, and none is fused.
func (v vectors) exp() {
	text("exp"+v.name, NOSPLIT, "func(n int, x, dst, table *float64) (done int)")
	Pragma("noescape")
	Doc("exp"+v.name+" is dst[i] = e^x[i] for i < n, a multiple of a vector's length, with expTable.",
		"It ends early before a vector with a number beyond the limit of the table, or a NaN.")
	n, x, dst, table := load("n"), load("x"), load("dst"), load("table")
	done := GP64()
	XORQ(done, done)
	constant := func(i int) Mem { return at(table, 8*i) }
	spread := func(i int, to VecPhysical) { VBROADCASTSD(constant(i), to) }
	u, k, high, low, r, c, p, t := v.wide[0], v.wide[1], v.wide[2], v.wide[3], v.wide[4], v.wide[5], v.wide[6], v.wide[7]
	sign, limit, inverse, ln2High, ln2Low, one := v.wide[8], v.wide[9], v.wide[10], v.wide[11], v.wide[12], v.wide[13]
	for i, to := range []VecPhysical{sign, limit, inverse, ln2High, ln2Low, one} {
		spread(i, to)
	}
	Label("loop")
	VMOVUPD(at(x, 0), u)
	VANDPD(u, sign, t) // the magnitude
	const notLessOrEqual = 6
	mask := GP64()
	if v.n == 8 {
		VCMPPD(Imm(notLessOrEqual), limit, t, K1)
		KMOVB(K1, mask.As32())
	} else {
		VCMPPD(Imm(notLessOrEqual), limit, t, t)
		VMOVMSKPD(t, mask.As32())
	}
	TESTL(mask.As32(), mask.As32())
	JNZ(LabelRef("end"))
	VMULPD(inverse, u, k)
	if v.n == 8 {
		VRNDSCALEPD(Imm(8), k, k)
	} else {
		VROUNDPD(Imm(8), k, k)
	}
	VMULPD(ln2High, k, high)
	VSUBPD(high, u, high)
	VMULPD(ln2Low, k, low)
	VSUBPD(low, high, r)
	VSUBPD(r, high, c)
	VSUBPD(low, c, c)
	spread(6, p)
	for i := range 11 {
		VMULPD(r, p, p)
		spread(7+i, t)
		VADDPD(t, p, p)
	}
	VMULPD(r, r, t)
	VMULPD(p, t, t) // r² p
	VMULPD(r, c, p)
	VADDPD(p, c, c)
	VADDPD(c, t, t)
	VADDPD(t, r, t)
	VADDPD(one, t, t)
	// 2^k: k + 1023 in the lowest bits of 2^52 + k + 1023, moved up.
	spread(18, p)
	VADDPD(p, k, k)
	VPSLLQ(Imm(52), k, k)
	VMULPD(k, t, t)
	VMOVUPD(t, at(dst, 0))
	ADDQ(Imm(uint64(8*v.n)), x)
	ADDQ(Imm(uint64(8*v.n)), dst)
	ADDQ(Imm(uint64(v.n)), done)
	CMPQ(done, n)
	JLT(LabelRef("loop"))
	Label("end")
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
