package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/accrete-ml/accrete/ingest"
)

// classify counts what the last kill interrupted, according to the topics.
func (w *world) classify(ctx context.Context, s *Summary) error {
	if err := w.log.catchUp(ctx, w.client, w.model("crash")+".log"); err != nil {
		return err
	}
	if err := w.answer.catchUp(ctx); err != nil {
		return err
	}
	if w.log.learned < learned {
		s.WarmUp++
	}
	if w.log.chunks {
		s.Chunks++
	}
	if w.log.rivals {
		s.Rivals++
	}
	if int64(len(w.answer.first)) < w.log.rows {
		s.Unreleased++
	}
	return nil
}

// check compares what the killed learner wrote with several uninterrupted runs,
// each independent of the others.
func (w *world) check(ctx context.Context, s *Summary) error {
	if err := w.classifyEnd(ctx, s); err != nil {
		return err
	}
	checks := []func(context.Context, string) (Summary, error){w.verify, w.consult, w.prove}
	if w.partitions == 1 && !w.tables { // the order is unique
		checks = append(checks, w.compare)
		if !w.options.windows && (!w.weighed || w.mixed) { // rows of a file have no timestamps
			checks = append(checks, w.fit)
		}
	}
	found := make([]Summary, len(checks))
	faults := make([]error, len(checks))
	var g sync.WaitGroup
	for i, f := range checks {
		g.Go(func() { found[i], faults[i] = f(ctx, s.StateHash) })
	}
	g.Wait()
	for _, f := range found {
		s.Divergences += f.Divergences
		s.Lost += f.Lost
		s.Differing += f.Differing
		s.Compared += f.Compared
		s.Verified += f.Verified
		s.Proved += f.Proved
		s.Refits += f.Refits
		s.Quarantined += f.Quarantined
		s.Features += f.Features
		s.Windows = s.Windows.Plus(f.Windows)
		s.Scores += f.Scores
		s.Tables = s.Tables.Plus(f.Tables)
	}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	missing := 0
	for i := range w.examples {
		if _, ok := w.answer.first[w.id(i)]; ok == w.garbage[i] { // what is in quarantine is the oracle's to check
			missing++
		}
	}
	s.Lost = max(s.Lost, missing) // the oracle counts these, too
	if w.options.windows {
		faults = append(faults, s.checkWindows(w.options))
	}
	if w.tables {
		faults = append(faults, checkTables(s.Tables, w.examples))
	}
	if s.Divergences > 0 {
		fault("%d divergences", s.Divergences)
	}
	if s.Lost > 0 {
		fault("%d of %d examples have no prediction", s.Lost, s.Examples)
	}
	if w.exactly && s.Duplicates > 0 {
		fault("a read-committed consumer sees %d predictions twice", s.Duplicates)
	}
	if s.Differing > 0 {
		fault("%d of %d repeated predictions are not the bytes of the first", s.Differing, s.Duplicates)
	}
	if w.kills >= 100 { // fewer kills may miss a case that a hundred must hit
		if s.Duplicates < 10 && !w.exactly {
			fault("%d predictions were written twice: too few to show anything, 10 are wanted", s.Duplicates)
		}
		for _, k := range []struct {
			n    int
			what string
		}{{s.WarmUp, "in the warm-up"}, {s.Chunks, "during chunks"}, {s.Unreleased, "between ack and release"}} {
			if k.n < 5 {
				fault("%d kills %s: too few to show anything, 5 are wanted", k.n, k.what)
			}
		}
		if w.kills >= 300 && w.refit > 0 && s.Rivals == 0 { // a challenger takes little time to write
			fault("no kill hit a challenger half written")
		}
	}
	return errors.Join(faults...)
}

// id returns the ce_id of an example's prediction.
func (w *world) id(i int) string {
	return fmt.Sprintf("%s-%d-%d", w.topic, i%w.partitions, i/w.partitions)
}

func (w *world) classifyEnd(ctx context.Context, s *Summary) error {
	if err := w.log.catchUp(ctx, w.client, w.model("crash")+".log"); err != nil {
		return err
	}
	if err := w.answer.catchUp(ctx); err != nil {
		return err
	}
	s.Examples, s.Duplicates, s.Differing = w.examples, w.answer.duplicates, w.answer.differing
	if len(w.log.hashes) == 0 {
		return errors.New("there is no snapshot at the end")
	}
	s.StateHash = w.log.hashes[len(w.log.hashes)-1].String()
	return nil
}

// verify runs accrete verify, which replays the journal's order and compares
// every state hash. The last one must equal want.
func (w *world) verify(ctx context.Context, want string) (s Summary, err error) {
	out, err := w.accrete(ctx, "verify", "-c", w.config("crash"), "--json")
	if err != nil {
		s.Divergences++
		return s, err
	}
	var v struct {
		Compared, Divergent, Challengers int
		StateHash                        string `json:"state_hash"`
	}
	if err := json.Unmarshal(out, &v); err != nil {
		return s, err
	}
	s.Verified, s.Refits, s.Divergences = v.Compared, v.Challengers, v.Divergent
	if w.refit > 0 && (v.Challengers == 0 || v.Challengers != w.log.refits) {
		return s, fmt.Errorf("verify has solved for %d of %d challengers again", v.Challengers, w.log.refits)
	}
	err = s.same("verify", v.StateHash, want)
	return s, err
}

// same counts a state hash that differs from the wanted one.
func (s *Summary) same(who, got, want string) error {
	if got == want {
		return nil
	}
	s.Divergences++
	return fmt.Errorf("%s comes to state %s, the learner to %s", who, got, want)
}

// consult runs the oracle and checks its report.
func (w *world) consult(ctx context.Context, want string) (s Summary, err error) {
	r, err := w.ask(ctx, "crash")
	if err != nil {
		return s, err
	}
	w.scored = r.Scored
	s.Compared, s.Quarantined = int(r.Compared), int(r.Quarantined)
	s.windowFigures, s.Tables = windowFigures{r.Features, r.Windows, r.Scores}, r.Tables
	if s.Quarantined != len(w.garbage) {
		s.Divergences++
		w.options.log("%d examples in quarantine, %d are garbage", s.Quarantined, len(w.garbage))
	}
	w.judge("oracle", r, &s)
	if n := r.Learned + r.Predicted + r.Quarantined; n != int64(w.examples) {
		s.Divergences++
		err = fmt.Errorf("oracle: %d of %d examples", n, w.examples)
	}
	err = errors.Join(err, s.same("the oracle", r.StateHash.String(), want))
	return s, err
}

// fit runs accrete fit on the same examples.
func (w *world) fit(ctx context.Context, want string) (s Summary, err error) {
	args := []string{"fit", w.file, "--json", "--algorithm", w.algorithm(), "--mixture", "on", "--max-features", strconv.Itoa(features)}
	if w.mixed {
		args = append(args, "--skip-bad", "--key", "card", "--columns", mixedColumns)
	}
	if w.weighed {
		args = append(args, "--balance", weighedShares, "--half-life", weighedHalfLife, "--time", "at")
	}
	out, err := w.accrete(ctx, args...)
	if err != nil {
		return s, err
	}
	var fit struct {
		StateHash string `json:"state_hash"`
	}
	if err := json.Unmarshal(out, &fit); err != nil {
		return s, err
	}
	err = s.same("fit", fit.StateHash, want)
	return s, err
}

// compare runs the same examples through a learner that is not killed. The
// state and every prediction must be identical.
func (w *world) compare(ctx context.Context, want string) (s Summary, err error) {
	if _, err := w.accrete(ctx, "learn", "-c", w.config("whole"), "--to-end", "--json"); err != nil {
		return s, err
	}
	whole := newModelLog(w.client, w.model("whole"))
	if err := whole.catchUp(ctx, w.client, w.model("whole")+".log"); err != nil {
		return s, err
	}
	err = s.same("an uninterrupted learner", whole.hashes[len(whole.hashes)-1].String(), want)
	name, other := []byte(w.model("crash")), []byte(w.model("whole"))
	renamed := func(b []byte) []byte { return bytes.ReplaceAll(b, other, name) }
	reference := newPredictions(w.client, w.model("whole"))
	reference.rename = func(r *ingest.Record) {
		r.Value = renamed(r.Value)
		for i := range r.Headers {
			r.Headers[i].Value = renamed(r.Headers[i].Value)
		}
	}
	if err := reference.catchUp(ctx); err != nil {
		return s, err
	}
	for id, want := range reference.content {
		if got, ok := w.answer.content[id]; ok && got != want {
			s.Divergences++
		}
	}
	return s, err
}
