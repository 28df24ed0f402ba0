// Package inference answers requests for predictions over HTTP: by the Open Inference
// Protocol, version 2, and for the JSON objects that a topic holds.
//
// A row of a request is decoded exactly as a record of a topic, and its prediction has the
// same bits.
package inference
