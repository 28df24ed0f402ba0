// Package inference answers requests for predictions over HTTP. It implements the Open
// Inference Protocol, version 2, and a path that takes JSON objects like those in a topic.
//
// A row of a request is decoded exactly like a record of a topic, and its prediction is
// bit-identical.
package inference
