package config

import (
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/ingest/registry"
)

// Of returns the connection as the package registry has it.
func (r *Registry) Of() registry.Config {
	return registry.Config{
		URLs: r.URL, Username: r.Username, Password: r.Secret.Reveal(), PasswordFile: r.SecretFile, TokenFile: r.Token,
		CAFile: r.CA, CertificateFile: r.Certificate, KeyFile: r.CertificateKey,
	}
}

// formats checks what the format of the records needs.
func (v *validation) formats() {
	if _, err := record.NewRedaction(v.Output.Redact, nil); err != nil {
		v.add("output.redact", "%v", err)
	}
	if v.Output.RedactKey != "" && len(v.Output.Redact) == 0 {
		v.add("output.redact_key_file", "is set, but output.redact is not")
	}
	in := &v.Input
	r := in.Registry.Of()
	if err := r.Check(); err != nil {
		v.add("input.registry.url", "%v", err)
	}
	schemas := decode.SchemaFormats()
	switch {
	case slices.Contains(schemas, in.Format) && r.Empty() && in.Schema == "":
		v.add("input.format", "is %s: want input.registry.url, or input.schema for records without the framing of a registry", in.Format)
	case !slices.Contains(schemas, in.Format) && in.Schema != "":
		v.add("input.schema", "is set, but input.format is %s: want %s", in.Format, strings.Join(schemas, " or "))
	case !slices.Contains(decode.FramedFormats(), in.Format) && !r.Empty():
		v.add("input.registry.url", "is set, but input.format is %s: want %s", in.Format, strings.Join(decode.FramedFormats(), " or "))
	}
	v.outputs()
	names := slices.Concat(in.Label, []string{in.Weight, in.Key})
	if err := decode.CheckNames(in.Format, names); err != nil {
		v.add("input.label", "%v", err)
	}
}

// OutputRegistry returns the connection to the registry of the schema of predictions.
func (c *Config) OutputRegistry() registry.Config {
	if r := c.Output.Registry.Of(); !r.Empty() {
		return r
	}
	return c.Input.Registry.Of()
}

// outputs checks what the form of predictions needs.
func (v *validation) outputs() {
	if err := v.Output.Registry.Of().Check(); err != nil {
		v.add("output.registry.url", "%v", err)
	}
	if v.Output.Format != "json" && v.OutputRegistry().Empty() {
		v.add("output.format", "is %s: want output.registry.url or input.registry.url, where its schema is registered", v.Output.Format)
	}
}
