package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// hadamard emits the passes of a Walsh-Hadamard transform. A pass does up to three stages at once,
// in registers, for 32 columns.
func hadamard() {
	for _, v := range []vectors{{"512", zmm, nil, 8}, {"2", ymm, nil, 4}} {
		for stages := 1; stages <= 3; stages++ {
			v.pass(stages, false)
			v.pass(stages, true)
		}
	}
}

func (v vectors) pass(stages int, signed bool) {
	radix, bytes := 1<<stages, 8*v.n
	name, params := fmt.Sprintf("hadamard%dx%s", radix, v.name), ""
	if signed {
		name, params = fmt.Sprintf("signedHadamard%dx%s", radix, v.name), ", signs *uint32"
	}
	text(name, NOSPLIT, "func(blocks, stride int, t *float32"+params+")")
	Pragma("noescape")
	doc := []string{fmt.Sprintf("%s is %d stages, from the one of pairs stride rows apart on, of blocks of %d*stride rows of 32.", name, stages, radix)}
	if signed {
		doc = append(doc, "Row i is first multiplied by -1 where signs[i] is the bit of the sign.")
	}
	Doc(doc...)
	blocks, stride, t := load("blocks"), load("stride"), load("t")
	var signs Register
	if signed {
		signs = load("signs")
	}
	s, s3, g, g3 := GP64(), GP64(), GP64(), GP64() // bytes of one and three strides, in t and in signs
	MOVQ(stride, s)
	SHLQ(Imm(7), s)
	LEAQ(Mem{Base: s, Index: s, Scale: 2}, s3)
	if signed {
		MOVQ(stride, g)
		SHLQ(Imm(2), g)
		LEAQ(Mem{Base: g, Index: g, Scale: 2}, g3)
	}
	p, q, j := GP64(), GP64(), GP64()
	each := func(from, signs Register, disp int, f func(i int, row, sign Mem)) {
		MOVQ(from, p)
		if signs != nil {
			MOVQ(signs, q)
		}
		for i := range radix {
			if i == 4 {
				LEAQ(Mem{Base: p, Index: s, Scale: 4}, p)
				if signs != nil {
					LEAQ(Mem{Base: q, Index: g, Scale: 4}, q)
				}
			}
			strided := func(base, s, s3 Register, disp int) Mem {
				m := at(base, disp)
				switch i % 4 {
				case 1:
					m.Index, m.Scale = s, 1
				case 2:
					m.Index, m.Scale = s, 2
				case 3:
					m.Index, m.Scale = s3, 1
				}
				return m
			}
			var sign Mem
			if signs != nil {
				sign = strided(q, g, g3, 0)
			}
			f(i, strided(p, s, s3, disp), sign)
		}
	}
	Label("block")
	MOVQ(stride, j)
	Label("row")
	for disp := 0; disp < 4*lanes; disp += bytes {
		r := append([]VecPhysical(nil), v.wide[:radix]...)
		free := v.wide[radix]
		each(t, signs, disp, func(i int, row, sign Mem) {
			VMOVUPS(row, r[i])
			switch {
			case !signed:
			case v.n == 8:
				VPXORD_BCST(sign, r[i], r[i])
			default:
				VBROADCASTSS(sign, free)
				VXORPS(free, r[i], r[i])
			}
		})
		for h := 1; h < radix; h *= 2 {
			for i := range radix {
				if i&h == 0 {
					VADDPS(r[i+h], r[i], free)
					VSUBPS(r[i+h], r[i], r[i+h])
					r[i], free = free, r[i]
				}
			}
		}
		each(t, nil, disp, func(i int, row, _ Mem) { VMOVUPS(r[i], row) })
	}
	ADDQ(I32(4*lanes), t)
	if signed {
		ADDQ(Imm(4), signs)
	}
	countdown(j, "row")
	for range radix - 1 {
		ADDQ(s, t)
		if signed {
			ADDQ(g, signs)
		}
	}
	countdown(blocks, "block")
	VZEROUPPER()
	RET()
}
