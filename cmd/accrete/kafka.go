package main

import (
	"github.com/accrete-ml/accrete/config"
	"github.com/accrete-ml/accrete/ingest"
)

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
