package broker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"go.uber.org/goleak"
)

// The test binary is also the broker that is killed: with BROKER_DIR set it
// serves that directory until it is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("BROKER_DIR"); dir != "" {
		b, err := Start(Config{Addr: "127.0.0.1:0", Dir: dir})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("listening", b.Addr())
		select {}
	}
	goleak.VerifyTestMain(m)
}

// child starts a broker as a separate process.
func child(t *testing.T, dir string) (addr string, kill func() *os.ProcessState) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BROKER_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() *os.ProcessState {
		cmd.Process.Kill()
		cmd.Wait()
		return cmd.ProcessState
	}
	t.Cleanup(func() { kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if !ok {
		t.Fatalf("the broker says %q, %v", line, err)
	}
	return addr, kill
}

func client(t *testing.T, addr string) *ingest.Client {
	t.Helper()
	c, err := ingest.New(ingest.Config{Brokers: []string{addr}, MaxWait: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Acknowledged records and the topic's id survive a kill -9.
func TestSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var id [16]byte
	stored := 0
	for round := range 4 {
		addr, kill := child(t, dir)
		c := client(t, addr)
		if err := c.Create(ctx, "t", 1, map[string]string{"cleanup.policy": "delete"}); err != nil {
			t.Fatal(err)
		}
		topic, err := c.Topic(ctx, "t")
		if err != nil || round > 0 && topic.ID != id {
			t.Fatalf("round %d: %+v, %v; its id was %x", round, topic, err, id)
		}
		id = topic.ID
		got, err := c.Fetcher("t", 0).Poll(ctx, 0)
		if err != nil || len(got.Records) != stored {
			t.Fatalf("round %d: %d records, want %d: %v", round, len(got.Records), stored, err)
		}
		for i, r := range got.Records {
			if r.Offset != int64(i) || string(r.Value) != fmt.Sprint("value ", i) {
				t.Fatalf("round %d: record %d is %d, %q", round, i, r.Offset, r.Value)
			}
		}
		p := c.Producer()
		for range 20 {
			if base, err := p.Append(ctx, "t", 0, []ingest.Record{{Value: []byte(fmt.Sprint("value ", stored))}}); err != nil || base != int64(stored) {
				t.Fatalf("round %d: %d, %v", round, base, err)
			}
			stored++
		}
		state := kill()
		if ws, ok := state.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
			t.Fatalf("the broker was not killed: %v", state)
		}
		c.Close()
	}
}

// What cannot be read at the end of a partition is discarded, and Discarded says so.
func TestDiscardedIsReported(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	damage := [][]byte{nil, {1, 2, 3}, bytes.Repeat([]byte{7}, 100)}
	for round, tail := range append(damage, nil) {
		b, err := Start(Config{Addr: "127.0.0.1:0", Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if round > 0 && damage[round-1] != nil {
			want = 1
		}
		if got := b.Discarded(); len(got) != want || want > 0 && !strings.Contains(got[0], fmt.Sprintf("t-0 segment 0: truncating %d ", len(damage[round-1]))) {
			t.Errorf("round %d: %q was discarded, want %d", round, got, want)
		}
		c := client(t, b.Addr())
		if err := c.Create(ctx, "t", 1, nil); err != nil {
			t.Fatal(err)
		}
		if base, err := c.Producer().Append(ctx, "t", 0, []ingest.Record{{Value: []byte("x")}}); err != nil || base != int64(round) {
			t.Errorf("round %d: appended at %d, %v", round, base, err)
		}
		c.Close()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		segments, err := filepath.Glob(filepath.Join(dir, "data", "partitions", "t-0", "*.dat"))
		if err != nil || len(segments) != 1 {
			t.Fatalf("%q, %v", segments, err)
		}
		f, err := os.OpenFile(segments[0], os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(tail); errors.Join(err, f.Close()) != nil {
			t.Fatal(err)
		}
	}
}

// A partition continues at its end offset after all its records were deleted,
// also after a kill -9: Kafka never assigns an offset twice.
func TestEndSurvivesDeletion(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stored := int64(0)
	for round := range 3 {
		addr, kill := child(t, dir)
		c := client(t, addr)
		if err := c.Create(ctx, "t", 1, nil); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			base, err := c.Producer().Append(ctx, "t", 0, []ingest.Record{{Value: []byte("a")}, {Value: []byte("b")}})
			if err != nil || base != stored {
				t.Fatalf("round %d: a batch at %d, %v; want %d", round, base, err, stored)
			}
			stored += 2
		}
		for range 2 { // an empty partition can be emptied again
			if err := c.DeleteRecords(ctx, "t", 0, stored); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if first, end, err := c.Offsets(ctx, "t"); err != nil || first[0] < stored-1 || end[0] != stored {
			t.Fatalf("round %d: offsets %d to %d, %v; want %d at the most one before", round, first, end, err, stored)
		}
		kill()
		c.Close()
	}
}

// A directory is used by one broker only, in this process or another.
func TestDirectoryIsLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by", "start")
	_, kill := child(t, dir)
	if _, err := Start(Config{Addr: "127.0.0.1:0", Dir: dir}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("beside another process: %v, want %v", err, ErrInUse)
	}
	kill()
	for range 2 {
		b, err := Start(Config{Addr: "127.0.0.1:0", Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Start(Config{Addr: "127.0.0.1:0", Dir: dir}); !errors.Is(err, ErrInUse) {
			t.Errorf("beside another in this process: %v, want %v", err, ErrInUse)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Batches of up to 8 MiB are accepted.
func TestLargeBatches(t *testing.T) {
	b, err := Start(Config{Addr: "localhost:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := client(t, b.Addr())
	if err := c.Create(ctx, "t", 1, nil); err != nil {
		t.Fatal(err)
	}
	p := c.Producer()
	if _, err := p.Append(ctx, "t", 0, []ingest.Record{{Value: make([]byte, 8<<20-200)}}); err != nil {
		t.Error(err)
	}
	if _, err := p.Append(ctx, "t", 0, []ingest.Record{{Value: make([]byte, 8<<20)}}); !errors.Is(err, ingest.ErrTooLarge) {
		t.Errorf("%v, want %v", err, ingest.ErrTooLarge)
	}
}

func TestStartRefuses(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{}, "either a directory or memory"},
		{Config{Dir: "d", Memory: true}, "either a directory or memory"},
		{Config{Addr: "here", Memory: true}, "want host:port"},
		{Config{Addr: "127.0.0.1:x", Memory: true}, `no port "x"`},
		{Config{Addr: "127.0.0.1:70000", Memory: true}, `no port "70000"`},
		{Config{Addr: ":9092", Memory: true}, "name the interface"},
		{Config{Addr: "0.0.0.0:9092", Memory: true}, "name the interface"},
	} {
		if _, err := Start(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
	b, err := Start(Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := Start(Config{Addr: b.Addr(), Memory: true}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a port that is taken: %v", err)
	}
}

// TestWhatCannotBeWrittenIsNotAcked puts a file where a partition's directory
// should be, so that writes fail as on a full disk. The producer's retries must
// not be acknowledged as duplicates of stored records.
func TestWhatCannotBeWrittenIsNotAcked(t *testing.T) {
	dir := t.TempDir()
	addr, kill := child(t, dir)
	c, err := ingest.New(ingest.Config{Brokers: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Create(ctx, "t", 1, nil); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "data", "partitions", "t-0")
	if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err := c.Producer().Append(ctx, "t", 0, []ingest.Record{{Value: []byte("x")}})
		if err == nil {
			t.Fatal("acked what could not be written")
		}
	}
	short, stop := context.WithTimeout(ctx, 700*time.Millisecond)
	defer stop()
	if err := c.Producer().Publish(short, "t", 0, []ingest.Record{{Value: []byte("x")}}); err == nil {
		t.Error("acked what could not be written")
	}
	kill()
}
