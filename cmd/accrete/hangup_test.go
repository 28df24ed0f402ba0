//go:build !windows

package main

import (
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A learner whose terminal closes ends as with SIGTERM, with a last snapshot. Under nohup it continues.
func TestHangupStops(t *testing.T) {
	var values []string
	rng := rand.New(rand.NewPCG(3, 2))
	for range 200 {
		values = append(values, string(ring(rng)))
	}
	d := kafkatest.NewDisk(t)
	kafkatest.Fill(t, kafkatest.ClientOf(t, d.Addr, nil), "in", 1, values)
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
	if log := stopped(syscall.SIGHUP); !strings.Contains(log, `"signal":"hangup"`) || !strings.Contains(log, `"message":"stopped"`) {
		t.Error(log)
	}
	signal.Ignore(syscall.SIGHUP) // what a child inherits under nohup
	defer signal.Reset(syscall.SIGHUP)
	if log := stopped(syscall.SIGHUP, syscall.SIGTERM); !strings.Contains(log, `"signal":"terminated"`) { // SIGHUP, with the lower number, is delivered first
		t.Error(log)
	}
}
