package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/metrics"
)

// systemd hears that the process is up, why it is not ready, that it is alive, and
// that it stops.
func TestSystemdIsNotified(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Skip("no Unix datagram sockets: ", err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "30000")
	hear := func() string {
		b := make([]byte, 1000)
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	h := metrics.NewHealth(time.Now)
	h.Add("claim", "waits\nfor an owner")
	stop := notifySystemd(env.New(nil, nil, nil, nil), h)
	if got := hear(); got != "READY=1" {
		t.Errorf("%q", got)
	}
	if got := hear(); got != "WATCHDOG=1\nSTATUS=not ready: claim: waits for an owner" {
		t.Errorf("%q", got)
	}
	stop()
	for last := ""; last != "STOPPING=1"; last = hear() {
		if last != "" && !strings.HasPrefix(last, "WATCHDOG=1") {
			t.Fatalf("%q", last)
		}
	}
}

// A unit is started again for as long as the brokers cannot be reached, and not after a refusal: by
// default systemd gives up after five starts in ten seconds.
func TestUnitsAreStartedAgainUntilTheyCanWork(t *testing.T) {
	units, err := filepath.Glob("../../deploy/systemd/*.service")
	if err != nil || len(units) != 2 {
		t.Fatal(units, err)
	}
	for _, name := range units {
		unit, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"StartLimitIntervalSec=0", "Restart=on-failure", "RestartPreventExitStatus=78"} {
			if !strings.Contains(string(unit), "\n"+want+"\n") {
				t.Errorf("%s: no %s", name, want)
			}
		}
	}
}
