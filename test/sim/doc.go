// Package sim runs the whole pipeline on a simulated Kafka. Learners start, are
// killed, paused and replaced, on a cluster that loses, delays and rejects
// requests, with a clock that the schedule advances. One goroutine decides what
// happens next, from a seed; all others wait for it (testing/synctest).
//
// The pipeline and ingest are the real ones, including the encoding of requests:
// the simulation starts where a request would be written to a socket. After each
// schedule test/oracle checks the contents of the topics.
//
//	go test ./test/sim -schedules 10000
//	go test ./test/sim -seed 4711 -v
//	go test -tags planted ./test/sim
//
// With -adverse, leaders are elected and records are too large for the outputs, and
// half of the schedules end with one more fault (-ending NAME selects it), which may
// need a command of the operator: a log, an input or an output that has lost its tail,
// a transaction that hangs, an added partition, a recreated or mirrored input, another
// arithmetic, or a rollback.
//
// With the tag planted the learner has selectable faults, and the test checks that
// the schedules find each of them; with -adverse, those that need it.
package sim
