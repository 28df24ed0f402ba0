// Package broker is an embedded Kafka broker: franz-go's kfake, which
// implements the real protocol, with a lock on its data directory. It is meant
// for demos, tests and small single-machine set-ups, and does not replicate.
package broker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Config is the address of a broker and where it stores its data.
type Config struct {
	Addr string // host:port on this machine; port 0 picks a free one, and empty means 127.0.0.1:9092

	// Dir is the data directory. Its contents survive restarts and kill -9:
	// each write is on disk before it is acknowledged. It is created if it does
	// not exist.
	Dir string

	Memory bool // keep everything in memory instead, for the life of the process
}

var (
	// ErrInUse means that the directory is in use by another broker, in this process or another.
	ErrInUse = errors.New("directory is in use by another broker")

	// ErrAddress means that Config.Addr cannot be advertised to clients.
	ErrAddress = errors.New("address")
)

// Broker is a running broker. Topics are created by CreateTopics requests only.
type Broker struct {
	cluster *kfake.Cluster
	lock    *os.File
	faults  *faults
}

// Start listens and serves until Close.
func Start(c Config) (*Broker, error) {
	if (c.Dir == "") != c.Memory {
		return nil, errors.New("broker: want either a directory or memory, not both")
	}
	addr := c.Addr
	if addr == "" {
		addr = "127.0.0.1:9092"
	}
	host, portName, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w %q: want host:port", ErrAddress, addr)
	}
	port, err := strconv.Atoi(portName)
	if err != nil || port < 0 || port > 65535 {
		return nil, fmt.Errorf("%w %q: no port %q", ErrAddress, addr, portName)
	}
	opts := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.ClusterID("embedded"),
		kfake.DefaultNumPartitions(1),
		kfake.BrokerConfigs(map[string]string{
			"message.max.bytes":      strconv.Itoa(8 << 20),
			"log.cleaner.backoff.ms": "15000",
		}),
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		// It advertises the address that it listens on.
		return nil, fmt.Errorf("%w %q: name the interface, for example 127.0.0.1:%d", ErrAddress, addr, port)
	}
	opts = append(opts, kfake.ListenFn(func(network, _ string) (net.Listener, error) {
		l, err := net.Listen(network, addr)
		if err != nil {
			return nil, err
		}
		return listener{l}, nil
	}))
	b := &Broker{faults: &faults{first: make(chan error, 1)}}
	opts = append(opts, kfake.WithLogger(b.faults))
	if c.Dir != "" {
		if b.lock, err = lock(c.Dir); err != nil {
			return nil, err
		}
		opts = append(opts, kfake.DataDir(filepath.Join(c.Dir, "data")), kfake.SyncWrites())
	}
	if b.cluster, err = kfake.NewCluster(opts...); err != nil {
		b.unlock()
		return nil, fmt.Errorf("broker: %w", err)
	}
	b.faults.started.Store(true)
	b.cluster.ControlKey(int16(kmsg.Produce), b.refuse)
	b.cluster.ControlKey(int16(kmsg.CreateTopics), b.checkNames)
	if c.Dir != "" {
		b.cluster.ControlKey(int16(kmsg.DeleteRecords), b.keepLast)
	}
	return b, nil
}

// Failed returns a channel that receives one error if the broker could not
// write to its directory. From then on the broker rejects records. Acknowledged
// records are kept: a broker started on the directory in another process, or
// after this one is closed, continues from them.
func (b *Broker) Failed() <-chan error { return b.faults.first }

// Discarded describes what Start found at the ends of the files of the directory, could not read, and
// has discarded. After a kill -9 that is what was being written and had not been acknowledged; after
// damage on the disk it may be more.
func (b *Broker) Discarded() []string { return b.faults.discarded }

// Addr returns the address that the broker listens on, as host:port.
func (b *Broker) Addr() string { return b.cluster.ListenAddrs()[0] }

// Close stops the broker and unlocks its directory. After a failed write the directory is left as
// after a crash, because the state in memory differs from the state on disk.
func (b *Broker) Close() error {
	if !b.faults.any.Load() {
		b.cluster.Close()
	}
	return b.unlock()
}
