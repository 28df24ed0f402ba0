// Package python has the source of the Python package that reads snapshots.
package python

import "embed"

// Package holds the directory accrete of the Python package.
//
//go:embed accrete/*.py
var Package embed.FS
