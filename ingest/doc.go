// Package ingest reads and writes Kafka so that nothing is lost, skipped or
// taken twice without an error that says so.
//
// Client finds topics and offsets. Fetcher reads one partition, read committed
// and from explicit offsets: checksums are verified, decompression is bounded,
// records of aborted transactions and control records are dropped, and a range
// that retention deleted is an error. Producer writes idempotent batches, in
// single attempts for a log that is its own judge (Append) or until they are
// acked (Publish).
//
// Subpackage decode turns the values of records into rows.
package ingest
