// Package quarantine reads the records that a learner or a scorer could not use, and
// replays them: it sends them back to the topics that they came from, each exactly once.
//
// The quarantine topic itself holds what was replayed. Each transaction of a replay
// writes records to their topics and, to the quarantine topic, a marker with the
// identities of these records. Whoever sees the records sees the marker, and the other
// way round. A replay begins by fencing all others (they have one transactional.id,
// that of the quarantine topic) and by reading all markers.
//
// A record is identified by its origin and its content, so that the copies of a record
// that a learner writes after a crash are one.
package quarantine
