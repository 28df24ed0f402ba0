package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// Prove is accrete prove.
type Prove struct {
	env.ConfigFlags
	env.JSONFlag
	ID []string `arg:"" name:"id" help:"Header ce_id of a prediction: TOPIC-PARTITION-OFFSET of the input record."`
}

func (Prove) Help() string {
	return `Finds a prediction that the learner has published, replays the history from the newest snapshot before it to the mini-batch that it was made after, computes it again and compares every bit: value, key, headers and time. Prints the model, its lineage, the positions up to which it had learned, and the input. It writes nothing, and fails if the prediction differs, cannot be found, or is of a seq that was rolled back.`
}

func (Prove) Examples() string {
	return `
accrete prove -c accrete.yaml payments.labelled-0-48211
accrete prove -c accrete.yaml payments.labelled-0-48211 payments.labelled-3-7 --json`
}

// Validate rejects ids that no prediction has. Kong calls it.
func (p *Prove) Validate() error {
	for _, id := range p.ID {
		if _, _, _, ok := model.ParsePosition(id, "-", "-"); !ok {
			return fmt.Errorf("%q: want the ce_id of a prediction, TOPIC-PARTITION-OFFSET", id)
		}
	}
	return nil
}

func (p *Prove) Run(ctx context.Context, e *env.Env) error {
	c, client, err := p.Open(e, "input.topics", "input.label")
	if err != nil {
		return err
	}
	defer client.Close()
	config, err := setup.Pipeline(c, client, e.WarnOfRetries)
	if err != nil {
		return err
	}
	receipts, err := audit.Prove(ctx, config, p.ID)
	if err != nil {
		return err
	}
	different := 0
	for i := range receipts {
		r := &receipts[i]
		if err := e.Print(p.JSON, r.String(), r); err != nil {
			return err
		}
		if !r.Equal {
			different++
		}
	}
	if different > 0 {
		return fmt.Errorf("%s of %s: %w", display.Count(int64(different), "prediction"), display.Count(int64(len(receipts)), "prediction"), errDifferent)
	}
	return nil
}

var errDifferent = errors.New("not what the model log and the input topics lead to")
