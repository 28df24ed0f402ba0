// Package version names the version of the program.
package version

import "runtime/debug"

// release is set by the linker in a release:
// -ldflags "-X github.com/accrete-ml/accrete/cmd/accrete/internal/version.release=v1.2.3".
var release string

// String returns the release version, or else what the Go command
// recorded: the version of the module, or the commit of the working tree.
func String() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = "-" + s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				changed = "+changes"
			}
		}
	}
	return "devel" + commit + changed
}
