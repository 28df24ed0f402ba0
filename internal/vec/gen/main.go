// Command gen writes the assembly of package vec. The comment of each routine is the loop that it
// implements. The documentation of package vec has the definition.
package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The packed layout, as in package vec.
const (
	lanes = 32
	panel = 12
	group = 96 / panel // panels
)

var (
	cosine = []float32{1, -4.934795379638672, 4.05844783782959, -1.3320683240890503, 0.2200242131948471}
	sine   = []float32{3.141592502593994, -5.1677021980285645, 2.549957752227783, -0.597625195980072, 0.07643289119005203}
)

// table emits a read-only table in which every number is repeated n times.
func table(name string, v []float32, n int) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, x := range v {
		for l := range n {
			DATA(4*(i*n+l), U32(math.Float32bits(x)))
		}
	}
	return m
}

// text begins a routine at a multiple of 64. Otherwise its place in the binary would change how the
// processor caches its loops: if they are off by half a cache line, some of them take twice as long
// on a Zen 5.
func text(name string, attributes attr.Attribute, signature string) {
	TEXT(name, attributes, signature)
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}})
}

// at returns the operand that is disp bytes after a pointer.
func at(base Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// load emits a load of a parameter that is a pointer or an int.
func load(name string) Register { return Load(Param(name), GP64()) }

// countdown emits a decrement of n and a jump to label unless n is 0.
func countdown(n Register, label string) {
	DECQ(n)
	JNZ(LabelRef(label))
}

// chains emits the loop over k = 0, 1, ..., dim-1, unrolled to four steps per iteration. In each
// step, x advances by xs bytes and w by ws bytes. Afterwards w points behind the panel.
func chains(dim, x, w Register, xs, ws int, step func(u int, x, w Register), id string) {
	const unroll = 4
	k, xk := GP64(), GP64()
	MOVQ(x, xk)
	MOVQ(dim, k)
	SUBQ(Imm(unroll), k)
	JL(LabelRef("rest" + id))
	Label("four" + id)
	for o := 0; o < unroll*ws; o += 64 {
		PREFETCHT0(at(w, 2048+o))
	}
	for u := range unroll {
		step(u, xk, w)
	}
	ADDQ(I32(unroll*xs), xk)
	ADDQ(I32(unroll*ws), w)
	SUBQ(Imm(unroll), k)
	JGE(LabelRef("four" + id))
	Label("rest" + id)
	ADDQ(Imm(unroll), k)
	JZ(LabelRef("turns" + id))
	Label("one" + id)
	step(0, xk, w)
	ADDQ(I32(xs), xk)
	ADDQ(I32(ws), w)
	countdown(k, "one"+id)
	Label("turns" + id)
}

// peak emits the yardstick for other loops: twelve chains of fused multiply-adds in registers.
func peak(name string, v []VecPhysical, zero func(ops ...Op)) {
	text(name, NOSPLIT, "func(n int)")
	Pragma("noescape")
	Doc(name + " does n*12 fused multiply-adds of vectors in registers.")
	n := load("n")
	for _, r := range v[:14] {
		zero(r, r, r)
	}
	Label("loop")
	for _, r := range v[2:14] {
		VFMADD231PS(v[0], v[1], r)
	}
	countdown(n, "loop")
	VZEROUPPER()
	RET()
}

func main() {
	ConstraintExpr("amd64,!purego")
	avx512()
	avx2()
	normals()
	packing()
	few()
	few512()
	few2()
	spread()
	linear()
	solve512()
	held()
	lines()
	mix()
	leafSums("leafSums2", 2, []VecPhysical{X0, X1, X2})
	leafSums("leafSums4", 4, ymm)
	notAbove512()
	notAbove2()
	slots()
	hadamard()
	logs512()
	peak("peak512", zmm, VPXORD)
	peak("peak2", ymm, VXORPS)
	Generate()
}
