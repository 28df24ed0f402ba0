package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/test/address"
)

// process is a running accrete.
type process struct {
	cmd    *exec.Cmd
	stderr strings.Builder // read after the process has exited
	gone   chan struct{}
}

// begin starts accrete without waiting for it.
func (w *world) begin(env []string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(w.bin, args...), gone: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Stdout = &p.stderr, io.Discard
	p.cmd.Env = append(os.Environ(), "ACCRETE_PLANTED="+w.planted)
	p.cmd.Env = append(p.cmd.Env, env...)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	w.started(p.cmd)
	go func() {
		p.cmd.Wait()
		close(p.gone)
	}()
	return p, nil
}

// started notes which process learns.
func (w *world) started(cmd *exec.Cmd) {
	if len(cmd.Args) > 1 && cmd.Args[1] == "learn" {
		w.learner.Store(int64(cmd.Process.Pid))
	}
}

func (p *process) signal(s syscall.Signal) { p.cmd.Process.Signal(s) }

// end kills the process, unless it has exited, and waits for it.
func (p *process) end() {
	p.signal(syscall.SIGKILL)
	<-p.gone
}

// killed waits for the process to exit and checks that SIGKILL ended it.
func (p *process) killed() error {
	<-p.gone
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() || ws.Signal() != syscall.SIGKILL {
		return fmt.Errorf("it was not killed, it ended by itself (%v):\n%s", p.cmd.ProcessState, p.stderr.String())
	}
	return nil
}

// ended waits for the process to exit by itself, and returns its exit code.
func (p *process) ended(limit time.Duration) (int, error) {
	select {
	case <-p.gone:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(limit):
		p.signal(syscall.SIGKILL)
		<-p.gone
		return 0, fmt.Errorf("after %v the learner had not ended:\n%s", limit, p.stderr.String())
	}
}

// server is a broker that can be killed: the embedded one as a separate
// process, or one that a script starts.
type server struct {
	bin, dir string
	address  string // empty for any address
	cmd      *exec.Cmd
	script   string // used instead of the embedded broker; empty for none
}

func (w *world) newServer() *server {
	return &server{bin: w.bin, dir: filepath.Join(w.dir, "broker"), address: net.JoinHostPort(address.OwnHost(), "0"), script: w.kafka}
}

// start starts the broker and returns once clients can connect.
func (s *server) start() error {
	if s.script != "" {
		out, err := exec.Command(s.script, "start").Output()
		if err != nil {
			return fmt.Errorf("%s start: %w", s.script, err)
		}
		s.address = strings.TrimSpace(string(out))
		return nil
	}
	s.cmd = exec.Command(s.bin, "broker", "--listen", s.address, "--dir", s.dir, "--json")
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var at struct{ Address string }
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		s.cmd.Process.Kill()
		return fmt.Errorf("broker: %w", errors.Join(err, s.cmd.Wait()))
	}
	s.address = at.Address
	return nil
}

// stop ends the broker; SIGKILL ends it at once.
func (s *server) stop(sig syscall.Signal) {
	if s.script != "" {
		how := map[syscall.Signal]string{syscall.SIGKILL: "kill", syscall.SIGTERM: "stop"}[sig]
		exec.Command(s.script, how).Run()
		return
	}
	s.cmd.Process.Signal(sig)
	s.cmd.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
