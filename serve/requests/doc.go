// Package requests writes the rows of HTTP requests for predictions to a topic. Each row has
// an id that the caller knows, so that labels that come later can be joined with it.
//
// The brokers acknowledge a row before its request is answered. While they do not acknowledge
// records, rows wait in a bounded buffer. Once the buffer is full, further rows are dropped.
package requests
