package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/magiconair/properties"
)

// readProperties reads the connection from a properties file of Kafka's own
// clients, as every vendor offers one for download. It understands their names
// and those of librdkafka. Properties that do not concern the connection become a
// warning.
func (c *Config) readProperties(name string) Problems {
	text, mode, err := readAll(name)
	if err != nil {
		return Problems{{name, err.Error()}}
	}
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	p, err := loader.LoadBytes(text)
	if err != nil {
		return Problems{{name, err.Error()}}
	}
	f := &propertiesFile{name: name, config: c, values: p.Map()}
	keys := p.Keys()
	slices.Sort(keys)
	for _, key := range keys {
		f.property(key, strings.TrimSpace(f.values[key]))
	}
	c.noteSecrets(name, "properties", mode)
	if len(f.unused) > 0 {
		c.unused = &Problem{name, "properties that are not used: " + strings.Join(f.unused, ", ")}
	}
	return f.problems
}

// propertiesFile is a properties file that is being read.
type propertiesFile struct {
	name     string
	config   *Config
	values   map[string]string
	unused   []string
	problems Problems
}

// aliases are the properties with other names than our options.
var aliases = map[string]string{
	"sasl.mechanisms":                                   "sasl.mechanism", // librdkafka's
	"ssl.truststore.location":                           "ssl.ca.location",
	"ssl.keystore.location":                             "ssl.certificate.location",
	"sasl.oauthbearer.client.credentials.client.id":     "sasl.oauthbearer.client.id",
	"sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
}

// implied are the properties that say what the mechanism says already.
var implied = []string{
	"sasl.client.callback.handler.class", "sasl.login.callback.handler.class", "sasl.login.class",
	"ssl.truststore.type", "ssl.keystore.type", "ssl.protocol", "ssl.enabled.protocols", "sasl.oauthbearer.method",
}

func (f *propertiesFile) property(key, value string) {
	switch {
	case key == "sasl.jaas.config":
		f.jaas(value)
	case key == "ssl.endpoint.identification.algorithm":
		if value != "https" {
			f.add(key, "host names of brokers are always verified: remove this property")
		}
	case (key == "ssl.truststore.location" || key == "ssl.keystore.location") && !strings.EqualFold(f.values[strings.Replace(key, "location", "type", 1)], "PEM"):
		f.add(key, "is a Java key store: export its certificates as PEM (openssl pkcs12 -in FILE -nodes, after keytool -importkeystore -deststoretype PKCS12 for JKS) and name that file in %s", aliases[key])
	case slices.Contains(implied, key):
	case aliases[key] != "":
		f.set(key, aliases[key], value)
	case known.byPath["kafka."+key] != nil:
		f.set(key, key, value)
	default:
		f.unused = append(f.unused, key)
	}
}

func (f *propertiesFile) add(key, format string, args ...any) {
	f.problems = append(f.problems, Problem{f.name, key + ": " + fmt.Sprintf(format, args...)})
}

func (f *propertiesFile) set(key, option, value string) {
	o := known.byPath["kafka."+option]
	if err := o.set(f.config, value); err != nil {
		f.add(key, "%v", err)
		return
	}
	f.config.sources[o.path] = Source{"properties", f.name + ": " + key}
}

var jaasEntry = regexp.MustCompile(`([A-Za-z_]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s;]+)`)

// jaasOptions are the options of the login modules of Kafka's clients.
var jaasOptions = map[string]string{
	"username": "sasl.username", "password": "sasl.password",
	"clientId": "sasl.oauthbearer.client.id", "clientSecret": "sasl.oauthbearer.client.secret", "scope": "sasl.oauthbearer.scope",
}

// jaas reads the credentials in a login module's configuration:
//
//	org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";
func (f *propertiesFile) jaas(value string) {
	module, rest, _ := strings.Cut(value, " ")
	if !strings.HasSuffix(module, "LoginModule") {
		f.add("sasl.jaas.config", "does not begin with a login module, as org.apache.kafka.common.security.plain.PlainLoginModule")
		return
	}
	var extensions []string
	for _, entry := range jaasEntry.FindAllStringSubmatch(rest, -1) {
		name, text := entry[1], entry[2]
		if text[0] == '"' || text[0] == '\'' {
			text = unescape.ReplaceAllString(text[1:len(text)-1], "$1")
		}
		if extension, ok := strings.CutPrefix(name, "extension_"); ok {
			extensions = append(extensions, extension+"="+text)
		} else if option := jaasOptions[name]; option != "" {
			f.set("sasl.jaas.config", option, text)
		} else if strings.HasSuffix(module, "IAMLoginModule") {
			f.add("sasl.jaas.config", "%s is not supported: set it in the environment or the shared configuration of AWS", name)
		} else {
			f.unused = append(f.unused, "sasl.jaas.config "+name)
		}
	}
	if extensions != nil {
		f.set("sasl.jaas.config", "sasl.oauthbearer.extensions", strings.Join(extensions, ","))
	}
}

var unescape = regexp.MustCompile(`\\(.)`)
