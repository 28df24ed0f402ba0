package main

import (
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline"
)

// open loads the effective configuration, in which required must be set, and
// prepares a client of its brokers.
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

// connect prepares a client of the brokers that the configuration names. It
// does no input or output but read the files of secrets.
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
		return nil, refuse(err)
	}
	return client, nil
}

// writerConfig is what a command needs that writes a record to the model log and
// learns nothing.
func writerConfig(c *config.Config, client *ingest.Client, e *env) (pipeline.Config, error) {
	sign, verify, err := signatureKeys(c)
	if err != nil {
		return pipeline.Config{}, err
	}
	return pipeline.Config{
		Model: c.Model, Client: client, Topics: c.Input.Topics, SignKey: sign, VerifyKey: verify, Writer: versionString(),
		Report: e.warnOfRetries,
	}, nil
}
