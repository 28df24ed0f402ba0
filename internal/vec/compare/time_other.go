//go:build !unix

package main

import "time"

var start = time.Now()

// processTime is the seconds since the start.
func processTime() float64 { return time.Since(start).Seconds() }
