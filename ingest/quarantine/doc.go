// Package quarantine reads the records that a learner or a scorer could not use, and
// replays them: it sends them back to the topics that they came from, each exactly once.
//
// The quarantine topic itself records what was replayed. Each transaction of a replay
// writes records to their original topics, and a marker with the identities of these
// records to the quarantine topic. A read-committed consumer therefore sees either both or
// neither. All replays of a quarantine topic have the same transactional.id. A replay
// begins by fencing all others, and by reading all markers.
//
// A record is identified by its origin and its content. If a learner writes a record to
// quarantine again after a crash, the copies have the same identity.
package quarantine
