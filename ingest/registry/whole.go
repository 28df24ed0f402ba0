package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// mostReferences is the maximum number of schemas that a schema may reference, directly or
// indirectly.
const mostReferences = 100

// whole returns a schema combined with those that it references. A schema that cannot be
// compiled is returned unchanged: a retry would not help, and a Decoder rejects the records that
// use it.
func (c *Client) whole(ctx context.Context, id string, s sr.Schema) (w decode.Writer, err error) {
	w = decode.Writer{ID: id, Type: s.Type.String(), Text: s.Schema}
	var parts []part
	if err := c.references(ctx, s.References, map[string]bool{}, &parts); err != nil {
		return w, fmt.Errorf("schema %s: %w", id, err)
	}
	text := s.Schema
	if s.Type == sr.TypeAvro && len(parts) > 0 {
		text, err = joined(s.Schema, parts)
	}
	if s.Type == sr.TypeProtobuf {
		imports := map[string]string{}
		for _, p := range parts {
			imports[p.name] = p.text
		}
		text, err = Proto(ctx, s.Schema, imports)
	}
	if err == nil {
		w.Text = text
	}
	return w, ctx.Err()
}

// part is a referenced schema, and the name by which it is referenced.
type part struct{ name, text string }

// references appends the referenced schemas, each after those that it references itself.
func (c *Client) references(ctx context.Context, of []sr.SchemaReference, seen map[string]bool, to *[]part) error {
	for _, r := range of {
		if seen[r.Name] {
			continue
		}
		if seen[r.Name] = true; len(seen) > mostReferences {
			return errors.New("it refers to too many schemas")
		}
		s, err := c.sr.SchemaByVersion(ctx, r.Subject, r.Version)
		if err != nil {
			return c.missing(fmt.Sprintf("version %d of %s", r.Version, r.Subject), err)
		}
		if err := c.references(ctx, s.References, seen, to); err != nil {
			return err
		}
		*to = append(*to, part{r.Name, s.Schema.Schema})
	}
	return nil
}

// joined returns an Avro schema that includes the definitions that it references.
func joined(text string, parts []part) (string, error) {
	var all avro.SchemaCache
	for _, p := range parts {
		if _, err := all.Parse(p.text); err != nil {
			return "", fmt.Errorf("%s: %w", p.name, err)
		}
	}
	s, err := all.Parse(text)
	if err != nil {
		return "", err
	}
	root := s.Root()
	if s, err = root.Schema(); err != nil {
		return "", err
	}
	return s.String(), nil
}

// bounded is a transport that limits the size of responses.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = limitedBody{io.LimitReader(answer.Body, bodyBytes), answer.Body}
	}
	return answer, err
}

type limitedBody struct {
	io.Reader
	io.Closer
}
