package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
)

type topCommand struct {
	env.JSONFlag
	Addresses []string      `arg:"" optional:"" help:"Addresses of learners and scorers, as host:port or URL (127.0.0.1:8080 127.0.0.1:8081)."`
	Every     time.Duration `default:"1s" placeholder:"DURATION" help:"Interval of the updates (${default})."`
	Once      bool          `help:"Print the state once and exit; with code 75 if a process is not ready or does not answer."`
	CA        string        `name:"ca" placeholder:"FILE" help:"PEM file of the authorities that certificates of https addresses are verified with (default: those of the system)."`
	Token     string        `name:"token-file" placeholder:"FILE" help:"File with a bearer token on its first line, as in http.token_file."`
}

func (topCommand) Help() string {
	return `Shows the state of several learners and scorers, one per line: readiness, error with its curve since the model was created, error of the linear baseline, throughput, lag, examples, age of the newest snapshot, records in quarantine, memory. The numbers are those of /status on each address. On a terminal the table is redrawn until it is interrupted; elsewhere it is printed once per interval.`
}

func (topCommand) Examples() string {
	return `
accrete top
accrete top localhost:8080 localhost:8081
accrete top https://learner-0:8080 https://learner-1:8080 --ca ca.crt --token-file token
accrete top --once --json localhost:8080`
}

// topRow is the state of a process, or why it is unknown.
type topRow struct {
	Address string       `json:"address"`
	Status  *page.Status `json:"status"`
	Error   string       `json:"error,omitempty"`
}

func (t *topCommand) Run(ctx context.Context, e *env.Env) error {
	if t.Every < 100*time.Millisecond {
		return exit.Usage("--every is %v: want 100ms or more", t.Every)
	}
	if len(t.Addresses) == 0 {
		t.Addresses = []string{"127.0.0.1:8080", "127.0.0.1:8081"}
	}
	ask, err := t.asker()
	if err != nil {
		return err
	}
	due := time.NewTicker(t.Every)
	defer due.Stop()
	for {
		rows := make([]topRow, len(t.Addresses))
		var all sync.WaitGroup
		for i, address := range t.Addresses {
			all.Go(func() { rows[i] = ask(ctx, address) })
		}
		all.Wait()
		if ctx.Err() != nil {
			return nil
		}
		text := topTable(rows)
		if e.Interactive && !t.JSON && !t.Once {
			text = "\x1b[H\x1b[J" + text // from the upper left corner of a cleared screen
		}
		if err := t.print(e, text, rows); err != nil {
			return err
		}
		if t.Once {
			return topVerdict(rows)
		}
		select {
		case <-due.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// print writes the table, or one object for each process.
func (t *topCommand) print(e *env.Env, table string, rows []topRow) error {
	if !t.JSON {
		return e.Print(false, table, nil)
	}
	for _, r := range rows {
		if err := e.Print(true, "", r); err != nil {
			return err
		}
	}
	return nil
}

// topVerdict returns an error that names the processes that are not ready.
func topVerdict(rows []topRow) error {
	var unwell []string
	for _, r := range rows {
		if r.Status == nil || !r.Status.Ready {
			unwell = append(unwell, r.Address)
		}
	}
	if len(unwell) == 0 {
		return nil
	}
	return exit.TryAgain(errors.New("not ready: " + strings.Join(unwell, ", ")))
}

// mostStatus is the maximum size of an answer, in bytes.
const mostStatus = 1 << 20

// asker returns a function that asks a process for its state.
func (t *topCommand) asker() (func(ctx context.Context, address string) topRow, error) {
	secure, token := &tls.Config{MinVersion: tls.VersionTLS12}, ""
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, exit.Usage("--ca: %w", err)
		}
		if secure.RootCAs = x509.NewCertPool(); !secure.RootCAs.AppendCertsFromPEM(pem) {
			return nil, exit.Usage("--ca: %s has no certificate", t.CA)
		}
	}
	if t.Token != "" {
		text, err := os.ReadFile(t.Token)
		if err != nil {
			return nil, exit.Usage("--token-file: %w", err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		token = strings.TrimSpace(line)
	}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: secure, MaxIdleConnsPerHost: 1}}
	get := func(ctx context.Context, address string) (*page.Status, error) {
		if !strings.Contains(address, "://") {
			address = "http://" + address
		}
		path, err := url.JoinPath(address, "status")
		if err != nil {
			return nil, err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		if err != nil {
			return nil, err
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s answers %s", path, answer.Status)
		}
		s := new(page.Status)
		if err := json.NewDecoder(io.LimitReader(answer.Body, mostStatus)).Decode(s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return s, nil
	}
	return func(ctx context.Context, address string) topRow {
		s, err := get(ctx, address)
		if err != nil {
			return topRow{Address: address, Error: exit.OneLine(err)}
		}
		return topRow{Address: address, Status: s}
	}, nil
}

// topTable formats the rows for a terminal. Names come from other processes, so characters that are
// not printable are replaced.
func topTable(rows []topRow) string {
	var b strings.Builder
	const format = "%-16s %-9s %-9s %-16s %8s %8s %9s %10s %12s %9s %6s %9s\n"
	fmt.Fprintf(&b, format, "MODEL", "ROLE", "STATE", "ERROR SO FAR", "ERROR", "LINEAR", "PER S", "LAG", "EXAMPLES", "SNAPSHOT", "BAD", "MEMORY")
	for _, r := range rows {
		s := r.Status
		if s == nil {
			fmt.Fprintf(&b, "%-16s %-9s %s\n", page.Printable(r.Address, 16), "", page.Printable(r.Error, 120))
			continue
		}
		state, age := "ready", "–"
		if !s.Ready {
			state = "NOT READY"
		}
		if s.Snapshot != nil {
			age = page.Span(time.Duration(*s.Snapshot * 1e9))
		}
		fmt.Fprintf(&b, format, page.Printable(s.Model, 16), page.Printable(s.Role, 9), state, display.Sparkline(s.Errors, 16), topFigure(s.Error), topFigure(s.Linear),
			display.Thousands(int64(s.PerSecond)), display.Thousands(s.Lag), display.Thousands(s.Examples), age, display.Thousands(s.Quarantined), page.Size(s.Memory))
		for _, reason := range s.Reasons {
			fmt.Fprintf(&b, "    %s\n", page.Printable(reason, 200))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func topFigure(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *v)
}
