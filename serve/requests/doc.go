// Package requests writes the rows of requests for predictions over HTTP to a topic,
// with an id that the caller has, so that labels that come later can be joined to them.
//
// A row is acknowledged by the brokers before its request is answered. While they do not,
// rows wait in a bounded buffer, and then are refused.
package requests
