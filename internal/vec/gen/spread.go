package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func spread() {
	spreadRun("512", zmm, panel, 16)
	spreadRun("2", ymm, half, 8)
}

// spreadRun keeps the chains of r frequencies and two scores in registers, and iterates over all
// rows before it continues with the next chains. A chain has 16 lanes, of which width are processed
// at a time.
func spreadRun(name string, v []VecPhysical, r, width int) {
	text("spread"+name, NOSPLIT, "func(panels, scores int, f, factors, acc *float32)")
	Pragma("noescape")
	Doc("spread"+name+" adds the rows of panels of features f, [panels][2][12][32], with the",
		"factors [panels][scores][32] to the chains acc of twelve frequencies:",
		"",
		"\tfor h, c, j, i: acc[j][h][c][i%16] = FMA(f[i/32][h][j][i%32], factors[i/32][c][i%32], acc[j][h][c][i%16])")
	panels, scores := load("panels"), load("scores")
	f, factors, acc := load("f"), load("factors"), load("acc")
	n, fp, gp, ap, fh, gc, c, step := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(scores, step) // bytes from a panel's factors to the next one's, and from a frequency's chains
	SHLQ(Imm(7), step)
	g, z := v[2*r:2*r+2], v[2*r+2:2*r+4]

	// block adds all rows to the chains of n scores, for all lanes and all frequencies, of the
	// cosines or of the sines.
	block := func(scores int, id string) {
		for q := 0; q < panel; q += r {
			for l := 0; l < 16; l += width {
				chains := func(move func(m Mem, v VecPhysical)) {
					MOVQ(acc, ap)
					for j := range q + r {
						for o := 0; o < scores && j >= q; o++ {
							move(at(ap, 64*o+4*l), v[o*r+j-q])
						}
						ADDQ(step, ap)
					}
				}
				chains(func(m Mem, v VecPhysical) { VMOVUPS(m, v) })
				MOVQ(fh, fp)
				MOVQ(gc, gp)
				MOVQ(panels, n)
				label := fmt.Sprint(id, "At", q, "Lane", l)
				Label(label)
				for i := l; i < lanes; i += 16 {
					for o := range scores {
						VMOVUPS(at(gp, 4*lanes*o+4*i), g[o])
					}
					for j := range r {
						z := z[j%2]
						VMOVUPS(at(fp, 4*lanes*(q+j)+4*i), z)
						for o := range scores {
							VFMADD231PS(g[o], z, v[o*r+j])
						}
					}
				}
				ADDQ(I32(4*2*panel*lanes), fp)
				ADDQ(step, gp)
				countdown(n, label)
				chains(func(m Mem, v VecPhysical) { VMOVUPS(v, m) })
			}
		}
		ADDQ(I32(64*scores), acc)
		ADDQ(I32(4*lanes*scores), gc)
	}
	MOVQ(f, fh)
	for _, h := range []string{"cos", "sin"} {
		MOVQ(factors, gc)
		MOVQ(scores, c)
		twoScores(c, h, block)
		ADDQ(I32(4*panel*lanes), fh)
	}
	VZEROUPPER()
	RET()
}

// twoScores calls block for two of c scores at a time, and for a single one that is left.
func twoScores(c Register, id string, block func(scores int, id string)) {
	SUBQ(Imm(2), c)
	JL(LabelRef(id + "Last"))
	Label(id + "Two")
	block(2, id+"Two")
	SUBQ(Imm(2), c)
	JGE(LabelRef(id + "Two"))
	Label(id + "Last")
	ADDQ(Imm(2), c)
	JZ(LabelRef(id + "Done"))
	block(1, id+"One")
	Label(id + "Done")
}
