package setup

import (
	"crypto/ed25519"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/metric"
)

// Keys returns the keys that the configuration names.
func Keys(c *config.Config) (sign ed25519.PrivateKey, verify ed25519.PublicKey, err error) {
	if path := c.Snapshot.SignKey; path != "" {
		if sign, err = config.ReadSigningKey(path); err != nil {
			return nil, nil, c.At("snapshot.sign_key_file", err)
		}
	}
	if path := c.Snapshot.VerifyKey; path != "" {
		if verify, err = config.ReadVerifyingKey(path); err != nil {
			return nil, nil, c.At("snapshot.verify_key_file", err)
		}
	}
	return sign, verify, nil
}

// KernelMetric returns the metric that the configuration names, or nil.
func KernelMetric(c *config.Config) (*metric.Metric, error) {
	path := c.Learner.KernelMetric
	if path == "" {
		return nil, nil
	}
	m, err := files.ReadMetric(path)
	if err == nil && c.Input.Columns.Names() != nil {
		err = learner.Config{Metric: m}.Check(c.Input.Columns.Names())
	}
	if err != nil {
		return nil, c.At("learner.kernel.metric", err)
	}
	return m, nil
}
