package history

import (
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Rename makes the next BATCHes read records with these renames. It returns those that are new.
func (d *Decider) Rename(all []decode.Rename) (news []schema.Alias, err error) {
	if err := d.decoder.Rename(all); err != nil {
		return nil, err
	}
	was := d.renames
	d.renames = renames(d.decoder)
	for _, a := range d.decoder.Schema().Aliases {
		if a.Declared && !slices.Contains(was, modellog.Rename{Column: a.Column, Field: a.Field}) {
			news = append(news, a)
		}
	}
	return news, nil
}

// renamed makes d read records with the renames of a BATCH in the model log.
func (d *Decider) renamed(as []modellog.Rename) {
	if slices.Equal(d.renames, as) {
		return
	}
	var all []decode.Rename
	for _, r := range as {
		all = append(all, decode.Rename(r))
	}
	d.decoder.SetRenames(all)
	d.renames = as
}

// renames returns the renames with which a Decoder reads records.
func renames(d *decode.Decoder) (all []modellog.Rename) {
	for _, r := range d.Renames() {
		all = append(all, modellog.Rename(r))
	}
	return all
}
