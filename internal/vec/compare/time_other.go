//go:build !unix

package main

import "time"

var start = time.Now()

// processTime returns the seconds since the start of the process.
func processTime() float64 { return time.Since(start).Seconds() }
