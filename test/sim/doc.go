// Package sim runs the whole pipeline on a simulated Kafka: learners that start,
// are killed, paused and replaced, on a cluster that loses, delays and refuses,
// under a clock that moves when the schedule says so. One goroutine decides, by a
// seed, what happens next; everything else waits for it (testing/synctest).
//
// The pipeline and ingest are the real ones, down to the encoded requests: what
// is simulated begins where a request would go to a socket. Behind each schedule
// test/oracle reads what is in the topics.
//
//	go test ./test/sim -schedules 10000
//	go test ./test/sim -seed 4711 -v
//	go test -tags planted ./test/sim
//
// With the tag planted the learner has faults to choose from, and the test is
// that the schedules find each of them.
package sim
