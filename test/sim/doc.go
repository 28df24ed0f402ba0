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
// With the tag planted the learner has selectable faults, and the test checks that
// the schedules find each of them.
package sim
