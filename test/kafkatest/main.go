package kafkatest

import (
	"flag"
	"runtime"
	"runtime/debug"
	"strconv"
)

// garbage is the GC percentage of tests. Their heaps are small, and with the usual 100 %
// they spend a tenth of their time collecting garbage.
const garbage = 400

// Prepare is for TestMain of a package whose parallel tests wait for brokers most of the
// time: up to n of them run at the same time, unless -parallel is set.
func Prepare(n int) {
	flag.Parse()
	debug.SetGCPercent(garbage)
	if p := flag.Lookup("test.parallel"); p.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		p.Value.Set(strconv.Itoa(n))
	}
}
