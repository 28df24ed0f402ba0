package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/internal/vec"
)

type versionCommand struct {
	env.JSONFlag
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
	return build{"accrete", version.String(), runtime.Version(), runtime.GOOS, runtime.GOARCH, vec.ISA()}
}

func (v *versionCommand) Run(_ context.Context, e *env.Env) error {
	b := thisBuild()
	text := fmt.Sprintf("%s %s (%s, %s/%s, %s)", b.Name, b.Version, b.Go, b.OS, b.Arch, b.ISA)
	return e.Print(v.JSON, text, b)
}
