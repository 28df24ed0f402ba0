package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// lines emits the loops over lines of 32 float64. No operation is fused.
func lines() {
	for _, v := range []vectors{{"512", zmm, ymm, 8}, {"2", ymm, xmm, 4}} {
		v.linesShift()
		v.linesShares()
		v.linesGradient()
		v.linesCurvature()
		v.linesStep()
		v.linesSum()
	}
	linesMajorant2()
}

const line = 8 * lanes // bytes

// eachLine emits a loop over n lines: f processes a line, and move advances the pointers.
func eachLine(n Register, label string, f func(), move func()) {
	Label(label)
	f()
	move()
	countdown(n, label)
}

func (v vectors) linesShift() {
	text("linesShift"+v.name, NOSPLIT, "func(n int, f, dst *float64)")
	Pragma("noescape")
	Doc("linesShift" + v.name + " is dst[c][i] = f[c][i] - max(f[0][i], ..., f[n-1][i]), for i < 32.")
	n, f, dst := load("n"), load("f"), load("dst")
	p, q, left := GP64(), GP64(), GP64()
	top := v.wide[:4]
	size := 8 * v.n
	for at0 := 0; at0 < line; at0 += 4 * size {
		id := string(rune('A' + at0/(4*size)))
		LEAQ(at(f, at0), p)
		LEAQ(at(dst, at0), q)
		for i, z := range top {
			VMOVUPD(at(p, size*i), z)
		}
		MOVQ(n, left)
		eachLine(left, "max"+id, func() {
			for i, z := range top {
				VMAXPD(at(p, size*i), z, z)
			}
		}, func() { ADDQ(I32(line), p) })
		LEAQ(at(f, at0), p)
		MOVQ(n, left)
		eachLine(left, "minus"+id, func() {
			for i, z := range top {
				VMOVUPD(at(p, size*i), v.wide[4+i])
				VSUBPD(z, v.wide[4+i], v.wide[4+i])
				VMOVUPD(v.wide[4+i], at(q, size*i))
			}
		}, func() { ADDQ(I32(line), p); ADDQ(I32(line), q) })
	}
	VZEROUPPER()
	RET()
}

func (v vectors) linesShares() {
	text("linesShares"+v.name, NOSPLIT, "func(n int, e *float64)")
	Pragma("noescape")
	Doc("linesShares" + v.name + " is e[c][i] /= e[0][i] + ... + e[n-1][i], summed in order, for i < 32.")
	n, e := load("n"), load("e")
	p, left := GP64(), GP64()
	sum := v.wide[:4]
	size := 8 * v.n
	for at0 := 0; at0 < line; at0 += 4 * size {
		id := string(rune('A' + at0/(4*size)))
		for _, z := range sum {
			VXORPD(z, z, z)
		}
		LEAQ(at(e, at0), p)
		MOVQ(n, left)
		eachLine(left, "sum"+id, func() {
			for i, z := range sum {
				VADDPD(at(p, size*i), z, z)
			}
		}, func() { ADDQ(I32(line), p) })
		LEAQ(at(e, at0), p)
		MOVQ(n, left)
		eachLine(left, "divide"+id, func() {
			for i, z := range sum {
				VMOVUPD(at(p, size*i), v.wide[4+i])
				VDIVPD(z, v.wide[4+i], v.wide[4+i])
				VMOVUPD(v.wide[4+i], at(p, size*i))
			}
		}, func() { ADDQ(I32(line), p) })
	}
	VZEROUPPER()
	RET()
}

// linesGradient reads the bounds and constants from a table, see vec.GradientLines.
func (v vectors) linesGradient() {
	text("linesGradient"+v.name, NOSPLIT, "func(n int, d, share, divisor, table, curvature *float64, factors *float32)")
	Pragma("noescape")
	Doc("linesGradient"+v.name+" is, for c < n and i < 32, with the numbers most, bound, slope, floor, 1 of the table,",
		"",
		"\td[c][i] = share[i] * max(-most, min(most, d[c][i])), factors[c][i] = float32(d[c][i])",
		"\tp = |d[c][i]| / divisor[i], curvature[c][i] = min(bound, slope*p*(1-p) + floor)")
	n, g, share, divisor, table := load("n"), load("d"), load("share"), load("divisor"), load("table")
	curvature, factors := load("curvature"), load("factors")
	w := v.wide
	most, least, bound, slope, floor, one, sign := w[8], w[9], w[10], w[11], w[12], w[13], w[14]
	for i, z := range []VecPhysical{most, least, bound, slope, floor, one, sign} {
		VBROADCASTSD(at(table, 8*i), z)
	}
	Label("line")
	for i := range lanes / v.n {
		a, p, q := w[3*(i%2)], w[3*(i%2)+1], w[3*(i%2)+2]
		VMOVUPD(at(g, 8*v.n*i), a)
		VMINPD(a, most, a)
		VMAXPD(a, least, a)
		VMULPD(at(share, 8*v.n*i), a, a)
		VMOVUPD(a, at(g, 8*v.n*i))
		if v.n == 8 {
			VCVTPD2PS(a, q.AsY())
			VMOVUPS(q.AsY(), at(factors, 4*v.n*i))
		} else {
			VCVTPD2PSY(a, q.AsX())
			VMOVUPS(q.AsX(), at(factors, 4*v.n*i))
		}
		VANDPD(sign, a, p)
		VDIVPD(at(divisor, 8*v.n*i), p, p)
		VSUBPD(p, one, q)
		VMULPD(slope, p, p)
		VMULPD(q, p, p)
		VADDPD(floor, p, p)
		VMINPD(p, bound, p)
		VMOVUPD(p, at(curvature, 8*v.n*i))
	}
	ADDQ(I32(line), g)
	ADDQ(I32(line), curvature)
	ADDQ(I32(line/2), factors)
	countdown(n, "line")
	VZEROUPPER()
	RET()
}

// linesMajorant2 reads the bounds and constants from a table, see vec.MajorantLines.
func linesMajorant2() {
	const width = 4
	text("linesMajorant2", NOSPLIT, "func(n int, d, share, table, curvature *float64)")
	Pragma("noescape")
	Doc("linesMajorant2 is, for c < n and i < 32, with the numbers most, bound, floor, 1, 2 of the table, where share[i] is not 0,",
		"",
		"\tq = |d[c][i]|, d[c][i] = share[i] * max(-most, min(most, d[c][i]))",
		"\tcurvature[c][i] = share[i] * min(bound, bound * sqrt(2*sqrt(max(0, q*(1-q)))) + floor)",
		"",
		"and elsewhere both are 0.")
	n, g, share, table, curvature := load("n"), load("d"), load("share"), load("table"), load("curvature")
	w := ymm
	most, least, bound, floor, one, two, sign, zero := w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15]
	for i, z := range []VecPhysical{most, least, bound, floor, one, two, sign} {
		VBROADCASTSD(at(table, 8*i), z)
	}
	VXORPD(zero, zero, zero)
	Label("line")
	for i := range lanes / width {
		a, p, q, r := w[4*(i%2)], w[4*(i%2)+1], w[4*(i%2)+2], w[4*(i%2)+3]
		VMOVUPD(at(g, 8*width*i), a)
		VMOVUPD(at(share, 8*width*i), r)
		VANDPD(sign, a, p)
		VSUBPD(p, one, q)
		VMULPD(q, p, p)
		VMAXPD(p, zero, p)
		VSQRTPD(p, p)
		VMULPD(two, p, p)
		VSQRTPD(p, p)
		VMULPD(bound, p, p)
		VADDPD(floor, p, p)
		VMINPD(p, bound, p)
		VMINPD(a, most, a)
		VMAXPD(a, least, a)
		const notEqual = 4
		VCMPPD(Imm(notEqual), zero, r, q)
		VMULPD(r, a, a)
		VMULPD(r, p, p)
		VANDPD(q, a, a)
		VANDPD(q, p, p)
		VMOVUPD(a, at(g, 8*width*i))
		VMOVUPD(p, at(curvature, 8*width*i))
	}
	ADDQ(I32(line), g)
	ADDQ(I32(line), curvature)
	countdown(n, "line")
	VZEROUPPER()
	RET()
}

func (v vectors) linesCurvature() {
	text("linesCurvature"+v.name, NOSPLIT, "func(n int, d, curvature, share, dst *float64)")
	Pragma("noescape")
	Doc("linesCurvature" + v.name + " is dst[c][i] = share[i] * (curvature[c][i] * (d[c][i] * d[c][i])), for c < n and i < 32.")
	n, d, curvature, share, dst := load("n"), load("d"), load("curvature"), load("share"), load("dst")
	Label("line")
	for i := range lanes / v.n {
		z := v.wide[i%4]
		VMOVUPD(at(d, 8*v.n*i), z)
		VMULPD(z, z, z)
		VMULPD(at(curvature, 8*v.n*i), z, z)
		VMULPD(at(share, 8*v.n*i), z, z)
		VMOVUPD(z, at(dst, 8*v.n*i))
	}
	for _, p := range []Register{d, curvature, dst} {
		ADDQ(I32(line), p)
	}
	countdown(n, "line")
	VZEROUPPER()
	RET()
}

func (v vectors) linesStep() {
	text("linesStep"+v.name, NOSPLIT, "func(n int, f, d, shift, size *float64)")
	Pragma("noescape")
	Doc("linesStep" + v.name + " is f[c][i] = (f[c][i] - shift[c]) - size[c]*d[c][i], for c < n and i < 32.")
	n, f, d, shift, size := load("n"), load("f"), load("d"), load("shift"), load("size")
	a, t := v.wide[8], v.wide[9]
	Label("line")
	VBROADCASTSD(at(shift, 0), a)
	VBROADCASTSD(at(size, 0), t)
	for i := range lanes / v.n {
		z, p := v.wide[i%4], v.wide[4+i%4]
		VMULPD(at(d, 8*v.n*i), t, p)
		VMOVUPD(at(f, 8*v.n*i), z)
		VSUBPD(a, z, z)
		VSUBPD(p, z, z)
		VMOVUPD(z, at(f, 8*v.n*i))
	}
	ADDQ(Imm(8), shift)
	ADDQ(Imm(8), size)
	ADDQ(I32(line), f)
	ADDQ(I32(line), d)
	countdown(n, "line")
	VZEROUPPER()
	RET()
}

// linesSum transposes squares of v.n lines and v.n numbers.
func (v vectors) linesSum() {
	text("linesSum"+v.name, NOSPLIT, "func(n int, x, sum *float64)")
	Pragma("noescape")
	Doc("linesSum" + v.name + " is sum[c] += x[c][0], += x[c][1], ..., += x[c][31], for c < n, a multiple of a vector's length.")
	n, x, sum := load("n"), load("x"), load("sum")
	w := v.wide
	total := w[2*v.n]
	Label("lines")
	VMOVUPD(at(sum, 0), total)
	for i := range lanes / v.n {
		r, t := w[:v.n], w[v.n:2*v.n]
		for c := range v.n {
			VMOVUPD(at(x, line*c+8*v.n*i), r[c])
		}
		if v.n == 8 {
			for c := 0; c < 8; c += 2 { // pairs of lines: numbers 0 2 4 6, and 1 3 5 7
				VUNPCKLPD(r[c+1], r[c], t[c])
				VUNPCKHPD(r[c+1], r[c], t[c+1])
			}
			for c := 0; c < 8; c += 4 { // t[c] has 0 2 4 6 of c, c+1; t[c+2] of c+2, c+3
				for h := range 2 {
					VSHUFF64X2(Imm(0x88), t[c+2+h], t[c+h], r[c+h])   // 0 4 of the first two, 0 4 of the others
					VSHUFF64X2(Imm(0xdd), t[c+2+h], t[c+h], r[c+2+h]) // 2 6
				}
			}
			// r[h] has 0+h: lanes (0 4 | 0 4); r[2+h] has 2+h and 6+h; r[4...] those of lines 4 to 7.
			for h := range 4 {
				VSHUFF64X2(Imm(0x88), r[4+h], r[h], t[h])   // 0+h, of 2+h for the second two
				VSHUFF64X2(Imm(0xdd), r[4+h], r[h], t[4+h]) // 4+h
			}
		} else {
			for c := 0; c < 4; c += 2 {
				VUNPCKLPD(r[c+1], r[c], t[c])
				VUNPCKHPD(r[c+1], r[c], t[c+1])
			}
			for h := range 2 {
				VPERM2F128(Imm(0x20), t[2+h], t[h], r[h])
				VPERM2F128(Imm(0x31), t[2+h], t[h], r[2+h])
			}
			t = r
		}
		for _, z := range t {
			VADDPD(z, total, total)
		}
	}
	VMOVUPD(total, at(sum, 0))
	ADDQ(I32(line*v.n), x)
	ADDQ(Imm(uint64(8*v.n)), sum)
	SUBQ(Imm(uint64(v.n)), n)
	JNZ(LabelRef("lines"))
	VZEROUPPER()
	RET()
}
