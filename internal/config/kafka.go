package config

// Kafka is the connection to the brokers.
type Kafka struct {
	// Initial brokers of the cluster as host:port, separated by commas.
	Servers []string `key:"bootstrap.servers" required:"true" example:"localhost:9092"`

	// Client name in the brokers' logs and quotas.
	ClientID string `key:"client.id" default:"accrete"`

	// Security protocol. SASL_PLAINTEXT sends records unencrypted, and the
	// password too unless the mechanism is SCRAM.
	Protocol string `key:"security.protocol" default:"PLAINTEXT" oneof:"PLAINTEXT SSL SASL_PLAINTEXT SASL_SSL"`

	// SASL mechanism; required if security.protocol begins with SASL. AWS_MSK_IAM takes
	// its credentials from where the tools of AWS do: the environment, shared files, the
	// role of a service account, container or instance.
	Mechanism string `key:"sasl.mechanism" example:"SCRAM-SHA-512" oneof:"mechanisms"`

	// SASL user name, for PLAIN and SCRAM.
	Username string `key:"sasl.username" example:"accrete"`

	// SASL password. Prefer the environment or sasl.password_file. Refused on the
	// command line, which every user of the machine can read. Never printed.
	Secret Secret `key:"sasl.password" example:"…"`

	// File with the SASL password on its first line. Like the files below, it is read
	// again for every connection, so that it can be replaced while the program runs.
	SecretFile string `key:"sasl.password_file" example:"/run/secrets/kafka"`

	// Where the tokens of OAUTHBEARER come from: the URL of an authorization server
	// that issues them for client credentials, or file:///path of a file that another
	// program keeps fresh.
	TokenEndpoint string `key:"sasl.oauthbearer.token.endpoint.url" example:"https://login.example.com/oauth2/token"`

	// OAuth client.
	OAuthClient string `key:"sasl.oauthbearer.client.id" example:"accrete"`

	// OAuth client secret. Prefer the environment or the file. Never printed.
	OAuthSecret Secret `key:"sasl.oauthbearer.client.secret" example:"…"`

	// File with the OAuth client secret on its first line.
	OAuthSecretFile string `key:"sasl.oauthbearer.client.secret_file" example:"/run/secrets/oauth"`

	// OAuth scopes to request, separated by spaces.
	OAuthScope string `key:"sasl.oauthbearer.scope" example:"kafka"`

	// SASL extensions sent with the token, as name=value.
	OAuthExtensions []string `key:"sasl.oauthbearer.extensions" example:"logicalCluster=lkc-1"`

	// PEM file of the certificate authorities to trust instead of the system's.
	CA string `key:"ssl.ca.location" example:"/etc/ssl/kafka-ca.pem"`

	// PEM file of the client's certificate, for brokers that require one (mutual TLS).
	Certificate string `key:"ssl.certificate.location" example:"/run/secrets/client.pem"`

	// PEM file of the key of that certificate, if it is not in the same file.
	CertificateKey string `key:"ssl.key.location" example:"/run/secrets/client.key"`
}

// Registry is the connection to a schema registry.
type Registry struct {
	// URLs of the registry, separated by commas; a path is kept.
	URL []string `key:"url" example:"https://registry.example.com:8081"`

	// User name of basic authentication.
	Username string `key:"username" example:"accrete"`

	// Password. Prefer the environment or the file. Never printed.
	Secret Secret `key:"password" example:"…"`

	// File with the password on its first line. This and the files below are read again
	// for every request.
	SecretFile string `key:"password_file" example:"/run/secrets/registry"`

	// File with a bearer token on its first line, instead of a password.
	Token string `key:"token_file" example:"/run/secrets/registry-token"`

	// PEM file of the certificate authorities to trust instead of the system's.
	CA string `key:"ssl.ca.location" example:"/etc/ssl/registry-ca.pem"`

	// PEM file of the client's certificate, for a registry that requires one.
	Certificate string `key:"ssl.certificate.location" example:"/run/secrets/client.pem"`

	// PEM file of the key of that certificate, if it is not in the same file.
	CertificateKey string `key:"ssl.key.location" example:"/run/secrets/client.key"`
}
