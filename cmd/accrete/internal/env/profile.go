package env

import (
	"errors"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// ProfileFlags are embedded in commands that compute for a long time.
type ProfileFlags struct {
	CPUProfile string `name:"cpuprofile" placeholder:"FILE" help:"Write a CPU profile, for go tool pprof."`
	Trace      string `placeholder:"FILE" help:"Write an execution trace, for go tool trace. It grows by about a megabyte a second."`
}

// Outputs returns the files that are written.
func (f ProfileFlags) Outputs() []Named {
	return []Named{{"--cpuprofile", f.CPUProfile}, {"--trace", f.Trace}}
}

// Profiled calls run, and records the profiles that the flags ask for.
func (f ProfileFlags) Profiled(run func() error) (err error) {
	profiles := []struct {
		flag, path string
		start      func(io.Writer) error
		stop       func()
	}{
		{"--cpuprofile", f.CPUProfile, pprof.StartCPUProfile, pprof.StopCPUProfile},
		{"--trace", f.Trace, trace.Start, trace.Stop},
	}
	for _, p := range profiles {
		if p.path == "" {
			continue
		}
		file, failed := os.OpenFile(p.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if failed != nil {
			return exit.Usage("%s: %w", p.flag, failed)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if err := p.start(file); err != nil {
			return err
		}
		defer p.stop()
	}
	return run()
}
