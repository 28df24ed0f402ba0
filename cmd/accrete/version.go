package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/accrete-ml/accrete/internal/vec"
)

// version is set by the linker in a release: -ldflags "-X main.version=v1.2.3".
var version string

type versionCommand struct {
	jsonFlag
}

func (versionCommand) Examples() string { return "accrete version --json" }

// build is the information needed in a bug report.
type build struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	ISA     string `json:"isa"` // the kernels in use: avx512, avx2 or generic
}

func thisBuild() build {
	return build{"accrete", versionString(), runtime.Version(), runtime.GOOS, runtime.GOARCH, vec.ISA()}
}

func (v *versionCommand) Run(_ context.Context, e *env) error {
	b := thisBuild()
	text := fmt.Sprintf("%s %s (%s, %s/%s, %s)", b.Name, b.Version, b.Go, b.OS, b.Arch, b.ISA)
	return e.print(v.JSON, text, b)
}

// versionString returns the release version, or else what the Go command
// recorded: the version of the module, or the commit of the working tree.
func versionString() string {
	if version != "" {
		return version
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
