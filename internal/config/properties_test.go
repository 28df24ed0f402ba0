package config

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/auth"
)

// loadProperties loads the least configuration with a properties file over it.
func loadProperties(t *testing.T, text string) (*Config, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	os.WriteFile("config.yaml", []byte(least), 0o600)
	os.WriteFile("client.properties", []byte(text), 0o600)
	return Load(Sources{File: "config.yaml", Properties: "client.properties"})
}

// The files that vendors offer for download are read as they are.
func TestPropertiesOfKafkaClients(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       auth.Security
	}{
		{"Java, PLAIN", `
# Required connection configs for Kafka producer, consumer, and admin
bootstrap.servers=pkc-1.example.com:9092
security.protocol=SASL_SSL
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username='KEY' password='a"b\\'c=;d';
sasl.mechanism=PLAIN
`, auth.Security{Protocol: "SASL_SSL", Mechanism: "PLAIN", Username: "KEY", Password: `a"b'c=;d`}},
		{"librdkafka, SCRAM", "security.protocol = SASL_SSL\nsasl.mechanisms: SCRAM-SHA-512\nsasl.username u\nsasl.password=p\nssl.ca.location=/ca.pem\n",
			auth.Security{Protocol: "SASL_SSL", Mechanism: "SCRAM-SHA-512", Username: "u", Password: "p", CAFile: "/ca.pem"}},
		{"Java, PEM stores", "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=/ca.pem\nssl.keystore.type=PEM\nssl.keystore.location=/me.pem\n",
			auth.Security{Protocol: "SSL", CAFile: "/ca.pem", CertificateFile: "/me.pem"}},
		{"Java, OAUTHBEARER", `security.protocol=SASL_SSL
sasl.mechanism=OAUTHBEARER
sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler
sasl.oauthbearer.token.endpoint.url=https://login.example.com/token
sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
  clientId="id" clientSecret="secret" scope="s" extension_logicalCluster="lkc-1" extension_identityPoolId="pool-1";
`, auth.Security{Protocol: "SASL_SSL", Mechanism: "OAUTHBEARER", OAuth: auth.OAuth{
			Endpoint: "https://login.example.com/token", ClientID: "id", Secret: "secret", Scope: "s",
			Extensions: map[string]string{"logicalCluster": "lkc-1", "identityPoolId": "pool-1"}}}},
		{"AWS", `security.protocol=SASL_SSL
sasl.mechanism=AWS_MSK_IAM
sasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required;
sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler
`, auth.Security{Protocol: "SASL_SSL", Mechanism: "AWS_MSK_IAM"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			loaded, err := loadProperties(t, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := loaded.Kafka.Security(); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v\nwant %+v", got, err, c.want)
			}
			if w := loaded.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
		})
	}
}

func TestPropertiesThatCannotBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		"security.protocol=SASL":                                   "client.properties: security.protocol:",
		"ssl.truststore.location=/store.jks":                       "client.properties: ssl.truststore.location: is a Java key store",
		"ssl.endpoint.identification.algorithm=":                   "always verified",
		"sasl.jaas.config=username=u":                              "does not begin with a login module",
		"sasl.jaas.config=a.IAMLoginModule required role=\"arn\";": "role is not supported",
		"a=\\u00zz": "client.properties",
	} {
		if _, err := loadProperties(t, text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	c, err := loadProperties(t, "session.timeout.ms=45000\nacks=all\n")
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Warnings(); len(w) != 1 || w[0].Text != "properties that are not used: acks, session.timeout.ms" {
		t.Errorf("%v", w)
	}
}
