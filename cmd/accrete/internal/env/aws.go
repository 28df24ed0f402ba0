package env

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/accrete-ml/accrete/ingest/auth"
)

// awsCredentials returns a function that finds credentials where the tools of AWS
// do, and renews them before they expire.
func awsCredentials() func(context.Context) (auth.AWSCredentials, error) {
	load := sync.OnceValues(func() (aws.Config, error) { return config.LoadDefaultConfig(context.Background()) })
	return func(ctx context.Context) (found auth.AWSCredentials, err error) {
		c, err := load()
		if err != nil {
			return found, err
		}
		a, err := c.Credentials.Retrieve(ctx)
		return auth.AWSCredentials{AccessKey: a.AccessKeyID, SecretKey: a.SecretAccessKey, SessionToken: a.SessionToken}, err
	}
}
