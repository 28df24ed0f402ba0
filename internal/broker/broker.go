// Package broker is an embedded Kafka broker: franz-go's kfake, which implements the
// real protocol, with a lock on its data directory. It is for demos, tests and
// small set-ups on one machine, and has no replication.
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

// Config says where a broker listens and what it keeps.
type Config struct {
	Addr string // host:port on this machine; port 0 picks a free one, and empty means 127.0.0.1:9092

	// Dir keeps everything across restarts, a kill -9 included: each write is
	// on disk before it is acked. It is created if it is not there.
	Dir string

	Memory bool // keep everything in memory instead, for as long as the process lives
}

var (
	// ErrInUse: another broker, in this process or another, has the directory
	// open.
	ErrInUse = errors.New("directory is in use by another broker")

	// ErrAddress: Config.Addr is none that a broker could tell its clients.
	ErrAddress = errors.New("address")
)

// Broker is a running broker. Its topics are made by CreateTopics only.
type Broker struct {
	cluster *kfake.Cluster
	lock    *os.File
	faults  *faults
}

// Start listens and serves until Close.
func Start(c Config) (*Broker, error) {
	if (c.Dir == "") != c.Memory {
		return nil, errors.New("broker: want either a directory or memory")
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
		// It tells clients to come back to the address it listens on.
		return nil, fmt.Errorf("%w %q: name the interface, as in 127.0.0.1:%d", ErrAddress, addr, port)
	}
	opts = append(opts, kfake.ListenFn(func(network, _ string) (net.Listener, error) { return net.Listen(network, addr) }))
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
	b.cluster.ControlKey(int16(kmsg.Produce), b.refuse)
	if c.Dir != "" {
		b.cluster.ControlKey(int16(kmsg.DeleteRecords), b.keepLast)
	}
	return b, nil
}

// Failed gives an error, once, if the broker could not write to its directory.
// From then on it takes no records. What it has acked is kept; a broker that is
// started on the directory by another process, or after this one, goes on.
func (b *Broker) Failed() <-chan error { return b.faults.first }

// Addr is where the broker listens, as host:port.
func (b *Broker) Addr() string { return b.cluster.ListenAddrs()[0] }

// Close stops the broker and lets go of its directory. One that failed leaves
// its directory as a crash would: what it has in memory is not what is there.
func (b *Broker) Close() error {
	if !b.faults.any.Load() {
		b.cluster.Close()
	}
	return b.unlock()
}
