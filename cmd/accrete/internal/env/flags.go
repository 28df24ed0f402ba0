package env

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/config"
)

// JSONFlag is embedded in commands with machine-readable output.
type JSONFlag struct {
	JSON bool `name:"json" help:"Print one JSON object per line."`
}

// ConfigFlags are embedded in commands that read a configuration.
type ConfigFlags struct {
	Config string   `short:"c" placeholder:"FILE" env:"ACCRETE_CONFIG" help:"Configuration file; accrete lint --reference prints one with every option."`
	Kafka  string   `name:"kafka-config" placeholder:"FILE" help:"Properties file of Kafka's own clients (client.properties), for the connection; overrides the configuration file."`
	Set    []string `sep:"none" placeholder:"KEY=VALUE" help:"Override an option, for example --set input.topics=a,b. Repeatable."`
}

// Inputs returns the files that are read.
func (f ConfigFlags) Inputs() []Named {
	return []Named{{"--config", f.Config}, {"--kafka-config", f.Kafka}}
}

// Load loads the effective configuration and logs its warnings.
func (f ConfigFlags) Load(e *Env) (*config.Config, error) {
	c, err := config.Load(f.Sources(e))
	if err != nil && f.Config == "" {
		return nil, fmt.Errorf("no configuration file (-c FILE): %w", err)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range c.Warnings() {
		e.Log.Warn().Str("at", w.Where).Msg(w.Text)
	}
	return c, nil
}

// Sources returns where the options of the configuration come from.
func (f ConfigFlags) Sources(e *Env) config.Sources {
	// flags read the variables that are removed here
	environ := slices.DeleteFunc(slices.Clone(e.environ), func(entry string) bool {
		return strings.HasPrefix(entry, "ACCRETE_LOG_") || strings.HasPrefix(entry, "ACCRETE_CONFIG=") || strings.HasPrefix(entry, "ACCRETE_ISA=")
	})
	return config.Sources{File: f.Config, Properties: f.Kafka, Environ: environ, Set: f.Set}
}

// Open loads the effective configuration and returns a client of its brokers.
// The options named by required must be set.
func (f ConfigFlags) Open(e *Env, required ...string) (*config.Config, *ingest.Client, error) {
	c, err := f.Load(e)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Require(required...); err != nil {
		return nil, nil, err
	}
	client, err := Connect(c)
	return c, client, err
}

// Connect returns a client of the brokers in the configuration. It reads the
// files of secrets and does no other input or output.
func Connect(c *config.Config) (*ingest.Client, error) {
	if err := c.ReadPassword(); err != nil {
		return nil, err
	}
	security, err := c.Kafka.Security()
	if err != nil {
		return nil, exit.Refuse(err)
	}
	security.AWS = awsCredentials()
	client, err := ingest.New(ingest.Config{Brokers: c.Kafka.Servers, ClientID: c.Kafka.ClientID, Security: security})
	if err != nil {
		return nil, exit.Refuse(err)
	}
	return client, nil
}
