// Package display formats numbers and errors, and keeps a progress line below the output.
package display
