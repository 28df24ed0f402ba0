// Package usage measures what a process uses, and finds what leaks.
package usage

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sample is the resource use of a process.
type Sample struct {
	RSS        int64 `json:"rss_bytes"`
	Heap       int64 `json:"heap_bytes"` // live bytes at the last collection
	Files      int   `json:"file_descriptors"`
	Goroutines int   `json:"goroutines"`

	Limit int64 // of memory, as the process reports it
}

// Flat reports an error if the learner uses more in the last quarter of its run
// than in the second, when it has allocated everything that it needs. A learner
// that has to catch up on a busy machine holds larger BATCHes, so a quarter more
// memory is not taken for a leak.
//
// What has leaked does not come back. Therefore the smallest numbers of descriptors
// and goroutines of the last quarter are compared with the largest of the second,
// each without the extreme tenth, which is the time just after a fault. After a
// fault, connections of some kinds are opened only when they are needed again, so
// that a sound learner has between 13 and 19 descriptors. In a run with few faults
// it may need all of them for the first time in the last quarter. With more faults
// the test is stricter: one descriptor leaked per fault is found from 40 faults on.
func Flat(samples []Sample, faults int) error {
	n := len(samples)
	second, last := samples[n/4:n/2], samples[3*n/4:]
	files, goroutines := 2, 4
	if faults < enoughFaults {
		files, goroutines = files+lateConnections, goroutines+2*lateConnections
	}
	var err error
	if was, is := Quantile(second, .5).RSS, Quantile(last, .5).RSS; is > was*5/4+16<<20 {
		err = fmt.Errorf("memory grew from %d to %d MB", was/1e6, is/1e6)
	}
	most, least := Quantile(second, .9), Quantile(last, .1)
	if least.Files > most.Files+files {
		err = errors.Join(err, fmt.Errorf("file descriptors grew from %d to %d", most.Files, least.Files))
	}
	if least.Goroutines > most.Goroutines+goroutines {
		err = errors.Join(err, fmt.Errorf("goroutines grew from %d to %d", most.Goroutines, least.Goroutines))
	}
	return err
}

const (
	// lateConnections is how many connections a sound learner opened or closed over
	// several minutes of soaks: it had 13 to 19 descriptors.
	lateConnections = 6

	// enoughFaults is the number of faults in a run whose second quarter has seen each
	// of the four kinds of faults, so that no connection is new in the last one.
	enoughFaults = 16
)

// Quantile returns the q-quantile of each figure separately.
func Quantile(all []Sample, q float64) (m Sample) {
	at := func(figure func(Sample) int64) int64 {
		v := make([]int64, len(all))
		for i, s := range all {
			v[i] = figure(s)
		}
		slices.Sort(v)
		return v[int(q*float64(len(v)-1))]
	}
	return Sample{
		RSS:        at(func(s Sample) int64 { return s.RSS }),
		Heap:       at(func(s Sample) int64 { return s.Heap }),
		Files:      int(at(func(s Sample) int64 { return int64(s.Files) })),
		Goroutines: int(at(func(s Sample) int64 { return int64(s.Goroutines) })),
	}
}

// Look reads the resource use of a process from /proc and from its own metrics.
func Look(pid int, listen string) (s Sample, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return s, err
	}
	s.RSS = Kilobytes(status, "VmRSS:")
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return s, err
	}
	s.Files = len(files)
	return s, s.Scrape(listen)
}

// Kilobytes returns a figure of /proc/PID/status, in bytes, 0 if there is none.
func Kilobytes(status []byte, name string) int64 {
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kb), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}

// Scrape reads the figures that the process itself reports.
func (s *Sample) Scrape(listen string) error {
	client := http.Client{Timeout: time.Second}
	resp, err := client.Get("http://" + listen + "/metrics")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		name, value, _ := strings.Cut(in.Text(), " ")
		name, _, _ = strings.Cut(name, "{")
		n, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "go_goroutines":
			s.Goroutines = int(n)
		case "go_memstats_next_gc_bytes":
			s.Heap = int64(n / 2) // with GOGC at 100
		case "accrete_memory_limit_bytes":
			s.Limit = int64(n)
		}
	}
	return nil
}
