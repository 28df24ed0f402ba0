package bench

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// peersScript runs learners of other projects on files.
//
//go:embed peers.py
var peersScript []byte

// peers are the learners of peersScript. usualPeers are the ones that "all" stands for; the others
// are variants, or slow.
var (
	peers      = []string{"linear", "arf", "arf-moa", "amf", "hoeffding", "vw", "vw-quadratic", "vw-nn", "rff-sgd", "lightgbm"}
	usualPeers = []string{"arf", "amf", "vw", "vw-quadratic", "lightgbm"}
)

// besidePeers are the algorithms that are compared with peers unless some are named.
var besidePeers = []string{"newton", "newton/effort:32", "newton/effort:8", "eigenpro", "ridge"}

// peer is the result of a learner of another project.
type peer struct {
	Learner    string  `json:"learner"`
	Version    string  `json:"version"`
	Pinned     bool    `json:"pinned"` // whether the version is that of the documentation
	Rows       int     `json:"rows"`
	Error      float64 `json:"error"` // of the test rows, or progressive for a stream
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
	Skipped    string  `json:"skipped,omitempty"` // why it did not run
}

// peersError returns an error if a peer is unknown.
func (c *Command) peersError() error {
	for _, name := range c.Peers {
		if name != "all" && !slices.Contains(peers, name) {
			return exit.Usage("--peers: unknown learner %q: want all, or some of %s", name, strings.Join(peers, ", "))
		}
	}
	return nil
}

// runPeers runs the peers on the rows of s, in their order. Those that are not installed are
// skipped with a warning.
func (c *Command) runPeers(ctx context.Context, e *env.Env, s *set) ([]peer, error) {
	if err := s.numeric(); err != nil {
		e.Log.Warn().Err(err).Str("set", s.name).Msg("no peers")
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "accrete-peers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(script, peersScript, 0o600); err != nil {
		return nil, err
	}
	if err := s.write(dir); err != nil {
		if errors.Is(err, errUnfit) {
			e.Log.Warn().Err(err).Str("set", s.name).Msg("no peers")
			return nil, nil
		}
		return nil, err
	}
	names := slices.Clone(c.Peers)
	if slices.Contains(names, "all") {
		names = usualPeers
	}
	// #nosec G204 -- the interpreter that the user names
	run := exec.CommandContext(ctx, c.Python, script, dir, "--ordered", "--classes", strconv.Itoa(len(s.schema.Classes)), "--learners", strings.Join(names, ","))
	run.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var complaints bytes.Buffer
	run.Stderr = &complaints
	out, err := run.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(complaints.String()), "\n")
		return nil, fmt.Errorf("--peers: %s: %w: %s (want numpy and the packages that docs/comparison.md names)", c.Python, err, lines[len(lines)-1])
	}
	return readPeers(e, s.name, out)
}

// readPeers reads what peersScript prints.
func readPeers(e *env.Env, set string, out []byte) (all []peer, err error) {
	for line := range bytes.Lines(out) {
		var p peer
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("--peers: %.80q: %w", line, err)
		}
		switch {
		case p.Skipped != "":
			e.Log.Warn().Str("set", set).Str("peer", p.Learner).Str("reason", p.Skipped).Msg("skipped")
		case !p.Pinned:
			e.Log.Warn().Str("set", set).Str("peer", p.Learner).Str("version", p.Version).Msg("not the version that the documentation has figures of")
		}
		all = append(all, p)
	}
	return all, nil
}

// write writes the rows of s, which must be numbers, to the files in dir that peersScript reads.
func (s *set) write(dir string) error {
	kind := "train"
	if s.rowsAreTime {
		kind = "stream"
	} else if len(s.test) == 0 {
		return fmt.Errorf("%w: it has no test rows", errUnfit)
	}
	if err := writeRows(filepath.Join(dir, "set."+kind+".csv.gz"), s.rows); err != nil || s.rowsAreTime {
		return err
	}
	return writeRows(filepath.Join(dir, "set.test.csv.gz"), s.test)
}

func writeRows(path string, rows []decode.Row) (err error) {
	file, err := os.Create(path) // #nosec G304 -- in a folder that was made for it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, _ := gzip.NewWriterLevel(file, gzip.BestSpeed)
	b := bufio.NewWriter(z)
	b.WriteString("y")
	for j := range rows[0].X {
		fmt.Fprintf(b, ",%d", j)
	}
	var line []byte
	for _, r := range rows {
		switch {
		case r.Label.Task == learner.Auto:
			continue
		case r.Label.More != nil:
			return fmt.Errorf("%w: peers learn one label, not several", errUnfit)
		}
		y := float64(r.Label.Class)
		if r.Label.Task == learner.Regression {
			y = r.Label.Value
		}
		line = strconv.AppendFloat(append(line[:0], '\n'), y, 'g', -1, 64)
		for _, v := range r.X {
			if v != v {
				return fmt.Errorf("%w: peers take no missing values", errUnfit)
			}
			line = strconv.AppendFloat(append(line, ','), v, 'g', -1, 64)
		}
		b.Write(line)
	}
	b.WriteString("\n")
	return errors.Join(b.Flush(), z.Close())
}

// peersText returns a line for each peer, in the columns of the table of algorithms.
func peersText(r report, stream bool) string {
	var b strings.Builder
	for _, p := range r.Peers {
		switch {
		case p.Skipped != "":
			fmt.Fprintf(&b, "\n%-16s skipped: %s", p.Learner, p.Skipped)
			continue
		case stream:
			fmt.Fprintf(&b, "\n%-16s %11.4f %11s", p.Learner, p.Error, "")
		default:
			fmt.Fprintf(&b, "\n%-16s %11s %11.4f", p.Learner, "", p.Error)
		}
		rate := func(seconds float64) string {
			return display.Thousands(int64(float64(p.Rows) / max(seconds, 1e-9)))
		}
		fmt.Fprintf(&b, " %9s %11s %11s  %s", "", rate(p.Seconds), rate(p.CPUSeconds), p.Version)
	}
	return b.String()
}
