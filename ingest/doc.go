// Package ingest reads and writes Kafka so that no record is lost, skipped or
// duplicated without an error.
//
// Client looks up topics and offsets. Fetcher reads one partition, read committed
// and from explicit offsets: checksums are verified, decompression is bounded,
// records of aborted transactions and control records are dropped, and a range
// that retention deleted is an error. Producer writes idempotent batches, either
// in a single attempt (Append), for a log whose reader decides what counts, or
// until they are acknowledged (Publish).
//
// Subpackage decode turns the values of records into rows.
package ingest
