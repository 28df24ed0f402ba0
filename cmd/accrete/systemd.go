package main

import (
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/metrics"
)

// statusInterval is the interval at which systemd gets the readiness as a status
// line, unless its watchdog wants to hear from the process more often.
const statusInterval = 2 * time.Second

// notifySystemd tells systemd, if it started the process with Type=notify, that the
// process is up, then keeps its watchdog quiet and its status line current until the
// returned function is called.
func notifySystemd(e *env.Env, h *metrics.Health) (stop func()) {
	sent, err := daemon.SdNotify(false, daemon.SdNotifyReady)
	if err != nil {
		e.Log.Warn().Err(err).Msg("systemd cannot be notified")
	}
	if !sent {
		return func() {}
	}
	interval := statusInterval
	if limit, err := daemon.SdWatchdogEnabled(false); err == nil && limit > 0 {
		interval = min(interval, limit/3)
	}
	end := every(interval, func() { daemon.SdNotify(false, daemon.SdNotifyWatchdog+"\n"+systemdStatus(h)) })
	return func() {
		end()
		daemon.SdNotify(false, daemon.SdNotifyStopping)
	}
}

// systemdStatus is the readiness as systemctl status shows it.
func systemdStatus(h *metrics.Health) string {
	states, ready := h.States()
	if ready {
		return "STATUS=ready"
	}
	var reasons []string
	for _, s := range states {
		if !s.Ready {
			reasons = append(reasons, s.Name+": "+s.Reason)
		}
	}
	return "STATUS=not ready: " + strings.ReplaceAll(strings.Join(reasons, "; "), "\n", " ")
}
