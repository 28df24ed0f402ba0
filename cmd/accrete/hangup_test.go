//go:build !windows

package main

import (
	"bufio"
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Two signals to stop at the same time are one, and the next one terminates the process at once.
func TestSecondSignalIsNotTheFirstTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begin, stopped := time.Now(), make(chan time.Duration, 1)
		go heedSecond(ctx, func() { stopped <- time.Since(begin) })
		cancel()
		if d := <-stopped; d < 100*time.Millisecond || d > time.Second {
			t.Errorf("a second signal counts from %v on", d)
		}
	})
}

// If nothing reads the log of a learner any more, because tee was interrupted as well, the learner
// still ends with a last snapshot.
func TestUnreadLogEndsNoLearner(t *testing.T) {
	d := kafkatest.NewDisk(t)
	kafkatest.Fill(t, kafkatest.ClientOf(t, d.Addr, nil), "in", 1, learntest.Rings(1))
	cmd := program(t, "learn", "--set", "model=m", "--set", "kafka.bootstrap.servers="+d.Addr, "--set", "input.topics=in", "--set", "input.label=label",
		"--set", "http.listen=off", "--set", "learner.max_features=64", "--set", "learner.mixture=off")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	for lines := bufio.NewScanner(log); !strings.Contains(lines.Text(), `"message":"learning"`); {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
	}
	log.Close()
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A learner stops when its terminal closes, as with SIGTERM, and writes a last snapshot. Under nohup it
// continues.
func TestHangupStops(t *testing.T) {
	d := kafkatest.NewDisk(t)
	kafkatest.Fill(t, kafkatest.ClientOf(t, d.Addr, nil), "in", 1, learntest.Rings(200))
	start := learnerOf(t, d.Addr, "m", "in")
	stopped := func(signals ...os.Signal) string {
		t.Helper()
		p := start("learn")
		for deadline := time.Now().Add(time.Minute); !strings.Contains(p.stderr.String(), `"message":"learning"`); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(p.stderr.String())
			}
		}
		for _, s := range signals {
			p.Process.Signal(s)
		}
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %v", signals, err)
		}
		return p.stderr.String()
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // a child does not inherit that: it hears the signal even if these tests run under nohup
	if log := stopped(syscall.SIGHUP, syscall.SIGHUP); !strings.Contains(log, `"signal":"hangup"`) || !strings.Contains(log, `"message":"stopped"`) {
		t.Error(log)
	}
	signal.Ignore(syscall.SIGHUP) // what a child inherits under nohup
	defer signal.Reset(syscall.SIGHUP)
	if log := stopped(syscall.SIGHUP, syscall.SIGTERM); !strings.Contains(log, `"signal":"terminated"`) { // SIGHUP, with the lower number, is delivered first
		t.Error(log)
	}
}
