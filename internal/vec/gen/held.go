package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// held emits the routines for products with features that are in memory.
func held() {
	heldSum("512", zmm, 8, 8, 2, 16)
	heldSum("2", ymm, 8, 4, 2, 8)
	heldSum("Few512", zmm, 4, 4, 2, 16)
	heldSum("Few2", ymm, 4, 4, 2, 8)
	spreadSum512()
	spreadSum2()
}

const perPanel = 8 // columns in a panel of coefficients

// heldSum emits a routine for the first columns. It keeps the chains of c columns and r vectors of
// rows in registers, first those of the cosines, then those of the sines.
func heldSum(name string, v []VecPhysical, columns, c, r, width int) {
	text("heldSum"+name, NOSPLIT, "func(panels, stride int, f, a *float32, dst *float64)")
	Pragma("noescape")
	Doc("heldSum"+name+" sums the features f, [panels][2][12][32] with that many numbers from one panel to the",
		"next, with the coefficients a, [panels][2][12][8], for c < "+fmt.Sprint(columns)+":",
		"",
		"\tdst[c][i] = Σ f[p][0][j][i]*a[p][0][j][c] + Σ f[p][1][j][i]*a[p][1][j][c]	in float32 chains, and their sum in float64")
	panels, stride := load("panels"), load("stride")
	f, a, dst := load("f"), load("a"), load("dst")
	fp, ap, n, j := GP64(), GP64(), GP64(), GP64()
	SHLQ(Imm(2), stride)
	SUBQ(I32(4*lanes*panel), stride) // from the last of 12 features to the first of the next panel
	acc := func(o, l int) VecPhysical { return v[o*r+l] }
	x, b := v[c*r:c*r+r], v[c*r+r:c*r+r+2]
	wide, zero := v[c*r:c*r+2], v[c*r+2]
	for q := 0; q < columns; q += c {
		for l := 0; l < lanes; l += r * width {
			for h := range 2 {
				id := fmt.Sprint("At", q, "Lane", l, "Half", h)
				for _, z := range v[:c*r] {
					VXORPS(z, z, z)
				}
				LEAQ(at(f, 4*(h*panel*lanes+l)), fp)
				LEAQ(at(a, 4*(h*panel*perPanel+q)), ap)
				MOVQ(panels, n)
				Label("panel" + id)
				MOVQ(I32(panel/2), j)
				Label("loop" + id)
				for u := range 2 {
					for i := range r {
						VMOVUPS(at(fp, 4*(u*lanes+i*width)), x[i])
					}
					for o := range c {
						VBROADCASTSS(at(ap, 4*(u*perPanel+o)), b[o%2])
						for i := range r {
							VFMADD231PS(x[i], b[o%2], acc(o, i))
						}
					}
				}
				ADDQ(I32(4*2*lanes), fp)
				ADDQ(I32(4*2*perPanel), ap)
				countdown(j, "loop"+id)
				ADDQ(stride, fp)
				ADDQ(I32(4*panel*perPanel), ap)
				countdown(n, "panel"+id)
				if h == 1 {
					VXORPS(zero, zero, zero)
				}
				for o := range c {
					for i := range r {
						for half := range 2 {
							z, low := wide[half], acc(o, i).AsX()
							if width == 16 {
								low = acc(o, i).AsY()
							}
							switch {
							case half == 1 && width == 16:
								VEXTRACTF64X4(Imm(1), acc(o, i), low)
							case half == 1:
								VEXTRACTF128(Imm(1), acc(o, i), low)
							}
							VCVTPS2PD(low, z)
							m := at(dst, 8*((q+o)*lanes+l+i*width+half*width/2))
							if h == 1 {
								VADDPD(m, z, z)
								VADDPD(zero, z, z)
							}
							VMOVUPD(z, m)
						}
					}
				}
			}
		}
	}
	VZEROUPPER()
	RET()
}

// spreadSum512 keeps the chains of twelve features and two scores in registers, and adds their
// lanes as lanes512 does.
func spreadSum512() {
	text("spreadSum512", NOSPLIT, "func(panels, scores, stride int, f, factors *float32, dst *float64)")
	Pragma("noescape")
	Doc("spreadSum512 adds the rows of panels of features f, [panels][2][12][32], with the first",
		"scores of the factors, [panels][stride][32], to dst, [12][2][stride]:",
		"",
		"\tfor h, c, j, i: chain[j][h][c][i%16] = FMA(f[i/32][h][j][i%32], factors[i/32][c][i%32], chain[j][h][c][i%16])",
		"\tdst[j][h][c] += the sum of the 16 chains, halves first")
	panels, scores, stride := load("panels"), load("scores"), load("stride")
	f, factors, dst := load("f"), load("factors"), load("dst")
	n, fp, gp, gc, dc, dp, c, step, row := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(stride, step) // bytes from a panel's factors to the next one's
	SHLQ(Imm(7), step)
	MOVQ(stride, row) // bytes from a feature's cosine to its next one's
	SHLQ(Imm(4), row)
	g := zmm[24:26]
	block := func(scores int, id string) {
		for _, z := range zmm[:12*scores] {
			VPXORD(z, z, z)
		}
		MOVQ(f, fp)
		MOVQ(gc, gp)
		MOVQ(panels, n)
		Label(id + "Rows")
		for i := 0; i < lanes; i += 16 {
			for o := range scores {
				VMOVUPS(at(gp, 4*lanes*o+4*i), g[o])
			}
			for j := range panel {
				z := zmm[26+j%2]
				VMOVUPS(at(fp, 4*lanes*j+4*i), z)
				for o := range scores {
					VFMADD231PS(g[o], z, zmm[o*panel+j])
				}
			}
		}
		ADDQ(I32(4*2*panel*lanes), fp)
		ADDQ(step, gp)
		countdown(n, id+"Rows")
		MOVQ(dc, dp)
		for j := range panel {
			for o := range scores {
				z := o*panel + j
				a, b := 26+o, 28+o
				VEXTRACTF64X4(Imm(1), zmm[z], ymm512(b))
				VCVTPS2PD(ymm512(z), zmm[a])
				VCVTPS2PD(ymm512(b), zmm[b])
				VADDPD(zmm[b], zmm[a], zmm[a])
				VEXTRACTF64X4(Imm(1), zmm[a], ymm512(b))
				VADDPD(ymm512(b), ymm512(a), ymm512(a))
				VEXTRACTF64X2(Imm(1), ymm512(a), xmm512(b))
				VADDPD(xmm512(b), xmm512(a), xmm512(a)) // a+c, b+d
			}
			x, y := xmm512(26), xmm512(27)
			if scores == 1 {
				VPERMILPD(Imm(1), x, y)
				VADDSD(y, x, x)
				VADDSD(at(dp, 0), x, x)
				VMOVSD(x, at(dp, 0))
			} else {
				VUNPCKLPD(y, x, xmm512(28))
				VUNPCKHPD(y, x, xmm512(29))
				VADDPD(xmm512(29), xmm512(28), x)
				VADDPD(at(dp, 0), x, x)
				VMOVUPD(x, at(dp, 0))
			}
			ADDQ(row, dp)
		}
		ADDQ(I32(8*scores), dc)
		ADDQ(I32(4*lanes*scores), gc)
	}
	for h, half := range []string{"cos", "sin"} {
		MOVQ(factors, gc)
		MOVQ(dst, dc)
		if h == 1 {
			LEAQ(Mem{Base: dst, Index: stride, Scale: 8}, dc)
			ADDQ(I32(4*panel*lanes), f)
		}
		MOVQ(scores, c)
		twoScores(c, half, block)
	}
	VZEROUPPER()
	RET()
}

// spreadSum2 keeps the chains of three features and two scores in registers, and adds their lanes
// as lanes2 does.
func spreadSum2() {
	const together = 3
	text("spreadSum2", NOSPLIT, "func(panels, scores, stride int, f, factors *float32, dst *float64)")
	Pragma("noescape")
	Doc("spreadSum2 is spreadSum512.")
	step, row := load("stride"), load("stride")
	SHLQ(Imm(7), step) // bytes from a panel's factors to the next one's
	SHLQ(Imm(4), row)  // bytes from a feature's cosine to its next one's
	f, factors, dst := load("f"), GP64(), GP64()
	n, q, fq, fp, gp, dp, c := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	g, z := ymm[12:14], ymm[14:16]
	block := func(scores int, id string) {
		chain := func(o, j, half int) VecPhysical { return ymm[(o*together+j)*2+half] }
		MOVQ(dst, dp)
		MOVQ(f, fq)
		MOVQ(I32(panel/together), q)
		Label(id + "Features")
		for _, v := range ymm[:2*together*scores] {
			VXORPS(v, v, v)
		}
		MOVQ(fq, fp)
		MOVQ(factors, gp)
		Load(Param("panels"), n)
		Label(id + "Rows")
		for i := 0; i < lanes; i += 8 {
			for o := range scores {
				VMOVUPS(at(gp, 4*(lanes*o+i)), g[o])
			}
			for j := range together {
				z := z[j%2]
				VMOVUPS(at(fp, 4*(lanes*j+i)), z)
				for o := range scores {
					VFMADD231PS(g[o], z, chain(o, j, i/8%2))
				}
			}
		}
		ADDQ(I32(4*2*panel*lanes), fp)
		ADDQ(step, gp)
		countdown(n, id+"Rows")
		for j := range together {
			for o := range scores {
				low, high := chain(o, j, 0), chain(o, j, 1)
				VEXTRACTF128(Imm(1), low, z[0].AsX())
				VEXTRACTF128(Imm(1), high, z[1].AsX())
				for _, v := range []VecPhysical{low, high, z[0], z[1]} {
					VCVTPS2PD(v.AsX(), v)
				}
				VADDPD(high, low, low)
				VADDPD(z[1], z[0], z[0])
				addLanes(low, z[0], low.AsX(), z[0].AsX())
				m := at(dp, 8*o)
				VADDSD(m, low.AsX(), low.AsX())
				VMOVSD(low.AsX(), m)
			}
			ADDQ(row, dp)
		}
		ADDQ(I32(4*lanes*together), fq)
		countdown(q, id+"Features")
		ADDQ(I32(8*scores), dst)
		ADDQ(I32(4*lanes*scores), factors)
	}
	for h, half := range []string{"cos", "sin"} {
		Load(Param("factors"), factors)
		Load(Param("dst"), dst)
		Load(Param("scores"), c)
		if h == 1 {
			SHRQ(Imm(1), row)
			ADDQ(row, dst)
			SHLQ(Imm(1), row)
			ADDQ(I32(4*panel*lanes), f)
		}
		twoScores(c, half, block)
	}
	VZEROUPPER()
	RET()
}

// ymm512 and xmm512 return the lower parts of a register of AVX-512.
func ymm512(i int) Register { return zmm[i].AsY() }
func xmm512(i int) Register { return zmm[i].AsX() }
