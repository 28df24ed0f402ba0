package main

import (
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline"
)

// open loads the effective configuration and returns a client of its brokers.
// The options named by required must be set.
func (f configFlags) open(e *env, required ...string) (*config.Config, *ingest.Client, error) {
	c, err := f.load(e)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Require(required...); err != nil {
		return nil, nil, err
	}
	client, err := connect(c)
	return c, client, err
}

// connect returns a client of the brokers in the configuration. It reads the
// files of secrets and does no other input or output.
func connect(c *config.Config) (*ingest.Client, error) {
	password, err := c.Password()
	if err != nil {
		return nil, err
	}
	client, err := ingest.New(ingest.Config{
		Brokers:  c.Kafka.Servers,
		ClientID: c.Kafka.ClientID,
		Security: ingest.Security{
			Protocol:  c.Kafka.Protocol,
			Mechanism: c.Kafka.Mechanism,
			Username:  c.Kafka.Username,
			Password:  password,
			CAFile:    c.Kafka.CA,
		},
	})
	if err != nil {
		return nil, exit.Refuse(err)
	}
	return client, nil
}

// writerConfig returns the pipeline configuration of a command that writes a
// record to the model log without learning.
func writerConfig(c *config.Config, client *ingest.Client, e *env) (pipeline.Config, error) {
	sign, verify, err := signatureKeys(c)
	if err != nil {
		return pipeline.Config{}, err
	}
	return pipeline.Config{
		Model: c.Model, Client: client, Topics: c.Input.Topics, SignKey: sign, VerifyKey: verify, Writer: versionString(),
		Keep: c.Snapshot.Keep, History: int64(c.Snapshot.History),
		Report: e.warnOfRetries,
	}, nil
}
