package papers

import "iter"

// contests yields the paper's experiments on generated data one by one, and creates each when it is
// needed. Covtype of figure 2 is not among them, because it is read from a file. Related tasks
// replace ALOI of figure 4. Figure 1 has the sizes of the paper, and figure 3 has d=40, p=30 and
// n=100. If full, figure 2 has documents of the sizes of RCV1 and real-sim. Figure 3 then also has
// d=100, p=100 and n=100 as in the paper, and one of the paper's problems with d=200, which takes
// 800 MB.
func contests(full bool) iter.Seq[*contest] {
	var all []func() *contest
	for _, l := range []struct{ l1, l2 float64 }{{1e-3, 1e-2}, {1e-6, 1e-5}} {
		for _, s := range []struct{ n, p, q, d int }{{5000, 100, 50, 20}, {10000, 100, 50, 50}, {10000, 500, 50, 50}} {
			all = append(all, func() *contest { return factoredContest(1, s.n, s.p, s.q, s.d, l.l1, l.l2) })
		}
	}
	matrices := func(times float64, d, p, m, q int) {
		all = append(all, func() *contest {
			c := matrixContest(1, 100, p, d, m, q)
			c.times = times
			return c
		})
	}
	documents := func(name string, size documentSize) {
		all = append(all, func() *contest {
			c := documentContest(name, 1, size, 20, 1e-4, 1e-2)
			c.times = 4
			return c
		})
	}
	if full {
		documents("like RCV1", documentSize{n: 20242, p: 47236, words: 90, m: 101, q: 236})
		documents("like real-sim", documentSize{n: 72309, p: 20958, words: 60, m: 361, q: 104})
	}
	matrices(1, 40, 30, 5, 15)
	matrices(1, 40, 30, 50, 1)
	matrices(1, 40, 30, 20, 6)
	if full {
		matrices(4, 100, 100, 5, 50)
		matrices(4, 100, 100, 50, 5)
		matrices(4, 100, 100, 20, 20)
		matrices(20, 200, 100, 50, 5)
	}
	const dim, tasks = 16, 10
	learn, _ := relatedTasks(1, tasks, 60, 0, dim)
	for _, s := range []struct{ m, q int }{{10, 2}, {20, 4}, {40, 6}} {
		all = append(all, func() *contest {
			c, err := metricContest("related tasks", learn, dim, s.m, s.q)
			if err != nil {
				panic(err) // cannot happen: every task has three classes
			}
			return c
		})
	}
	return func(yield func(*contest) bool) {
		for _, c := range all {
			if !yield(c()) {
				return
			}
		}
	}
}
