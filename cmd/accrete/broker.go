package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/snapshot"
)

type brokerCommand struct {
	env.JSONFlag
	Listen string   `default:"127.0.0.1:9092" placeholder:"ADDRESS" help:"Address to listen on as host:port; port 0 picks a free one (${default})."`
	Dir    string   `placeholder:"DIR" help:"Data directory, which survives restarts and crashes (accrete-broker)." xor:"where"`
	Memory bool     `help:"Keep all data in memory, and discard it on exit." xor:"where"`
	Topics []string `placeholder:"NAME[:PARTITIONS]" help:"Topics to create if they do not exist, separated by commas."`
}

func (brokerCommand) Help() string {
	return `Runs a single-process Kafka broker without replication, for trials and for small set-ups on one machine, until it is interrupted.`
}

func (brokerCommand) Examples() string {
	return `
accrete broker --memory --listen 127.0.0.1:0 --json
accrete broker --topics payments:3,payments.labelled:3`
}

// brokerReport is printed once clients can connect.
type brokerReport struct {
	Address string         `json:"address"`
	Dir     string         `json:"dir,omitempty"` // empty: in memory
	Topics  map[string]int `json:"topics"`        // requested topics and the number of their partitions
}

func (b *brokerCommand) Run(ctx context.Context, e *env.Env) error {
	topics, err := parseTopics(b.Topics)
	if err != nil {
		return err
	}
	if b.Dir == "" && !b.Memory {
		b.Dir = "accrete-broker"
	}
	server, err := broker.Start(broker.Config{Addr: b.Listen, Dir: b.Dir, Memory: b.Memory})
	if metrics.InUse(err) {
		return fmt.Errorf("%s is in use by another program: choose another address with --listen", b.Listen)
	}
	var op *net.OpError
	if errors.Is(err, broker.ErrAddress) || errors.As(err, &op) {
		return exit.Usage("--listen: %w", err)
	}
	if err != nil {
		return err
	}
	for _, what := range server.Discarded() {
		e.Log.Warn().Str("dir", b.Dir).Str("broker", what).Msg("the end of a file could not be read and was discarded: after a crash these records were never acknowledged; otherwise check the disk")
	}
	return errors.Join(b.serve(ctx, e, server, topics), server.Close())
}

// serve creates the topics, prints the broker's address, and waits for ctx to
// be done.
func (b *brokerCommand) serve(ctx context.Context, e *env.Env, server *broker.Broker, topics []newTopic) error {
	address := server.Addr()
	report := brokerReport{address, b.Dir, map[string]int{}}
	text := "Kafka broker on " + address + ", data in "
	if b.Memory {
		text += "memory"
	} else {
		text += b.Dir
	}
	client, err := ingest.New(ingest.Config{Brokers: []string{address}})
	if err != nil {
		return err
	}
	defer client.Close()
	for _, want := range topics {
		if err := client.Create(ctx, want.name, want.partitions, nil); err != nil {
			return fmt.Errorf("topic %s: %w", want.name, err)
		}
		topic, err := client.Topic(ctx, want.name)
		if err != nil {
			return fmt.Errorf("topic %s: %w", want.name, err)
		}
		report.Topics[want.name] = topic.Partitions
		if topic.Partitions != want.partitions {
			e.Log.Warn().Str("topic", want.name).Int("partitions", topic.Partitions).Int("wanted", want.partitions).Msg("the topic already exists with another number of partitions")
		}
		text += fmt.Sprintf("\ntopic %s, partitions: %d", want.name, topic.Partitions)
	}
	if err := e.Print(b.JSON, text, report); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Failed():
		return fmt.Errorf("%w: free space or repair the disk, then start the broker again: acknowledged records are kept", err)
	}
}

type newTopic struct {
	name       string
	partitions int
}

// parseTopics parses payments:3,refunds as a topic of three partitions and a
// topic of one.
func parseTopics(list []string) ([]newTopic, error) {
	var topics []newTopic
	for _, item := range list {
		name, count, counted := strings.Cut(item, ":")
		partitions := 1
		if counted {
			n, err := strconv.Atoi(count)
			if err != nil || n < 1 || n > 10000 {
				return nil, exit.Usage("--topics %s: want NAME[:PARTITIONS], for example payments:3", item)
			}
			partitions = n
		}
		if name == "" {
			return nil, exit.Usage("--topics %s: the name is empty", item)
		}
		if err := checkTopic(name); err != nil {
			return nil, exit.Usage("--topics %s: %w", item, err)
		}
		topics = append(topics, newTopic{name, partitions})
	}
	return topics, nil
}

// checkTopic returns an error if Kafka does not accept the name of a topic.
func checkTopic(name string) error {
	if snapshot.ValidTopic(name) && name != "." && name != ".." {
		return nil
	}
	return fmt.Errorf("%q is not a valid topic name: use letters, digits, '.', '_' and '-', at most %d characters", name, snapshot.MaxTopic)
}
