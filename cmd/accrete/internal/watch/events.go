package watch

import (
	"fmt"
	"math"
	"time"

	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// owned handles the events of a claim: who owns the model, and who takes over.
func (w *Watch) owned(ev event.Event) {
	switch ev := ev.(type) {
	case event.StandingBy:
		w.standingBy(ev)
	case event.FencingLoop:
		w.log.Warn().Int("fenced", ev.Fencings).Msg("learners of this model have fenced each other in the last minute, waiting as a standby: run one of them, or all of them with --standby")
	case event.StandbyFailed:
		w.log.Warn().Err(ev.Err).Msg("the standby cannot learn the same batches, it will restore a snapshot to take over")
	case event.TakingOver:
		w.claimed.Red("taking over the model")
		if ev.Epoch == 0 {
			break // a new model: nothing has failed
		}
		w.log.Warn().Int64("epoch", ev.Epoch).Bool("left", ev.Left).Msg("taking over the model: its owner has stopped, or sends no heartbeats")
	case event.Claimed:
		w.metrics.Claim.Set(float64(ev.Epoch))
		w.metrics.Owner.Set(1)
		w.metrics.Standby.Set(0)
		w.kafka.Progress()
		w.log.Info().Int64("epoch", ev.Epoch).Msg("claimed the model log")
	}
}

// restored handles the events at the start of a learner, which say what it begins or continues
// with.
func (w *Watch) restored(ev event.Event) {
	switch ev := ev.(type) {
	case event.Preparing:
		w.claimed.Red(fmt.Sprintf("learning the file to begin with: %d rows", ev.Rows))
	case event.Began:
		w.log.Info().Str("with", ev.Start.String()).Int64("step", ev.Start.Step).Stringer("state", ev.Start.StateHash).Msg("began a model")
		if ev.Start.Kind == modellog.StartFile && ev.Examples == 0 {
			w.log.Warn().Msg("no row of the file has a label, so nothing was learned from it: if that is not intended, correct input.label, and begin again with another name of the model")
		}
	case event.Restored:
		w.log.Info().Int64("seq", ev.Seq).Int64("step", ev.Step).Int("bytes", ev.Bytes).Dur("took_ms", ev.Took).Msg("restored a snapshot")
	case event.Damaged:
		w.log.Error().Str("snapshot", ev.ID).Err(ev.Err).Msg("unusable snapshot, trying the previous one")
	case event.Unreadable:
		w.log.Error().Int64("offset", ev.Offset).Str("why", ev.Why).Msg("unreadable record in the model log, ignored")
	case event.Void:
		w.metrics.Void(ev.Offset, ev.Type)
	case event.RolledBack:
		r := ev.Record
		w.log.Error().Int64("to_seq", r.ToSeq).Int64("abandoned_from", r.ToSeq+1).Int64("abandoned_to", r.Seq-1).Str("reason", r.Reason).Msg("rolled back: predictions with the abandoned sequence numbers (ce_sequence) no longer belong to the model, and what is left of their records is learned again")
	case event.Replayed:
		w.replayed(ev)
	}
}

// standingBy marks the process as ready as a standby.
func (w *Watch) standingBy(ev event.StandingBy) {
	if ev.Mute == nil {
		w.kafka.Progress()
	} else {
		w.kafka.Trouble(fmt.Sprintf("the standby cannot take over without heartbeats: %v", ev.Mute))
	}
	w.claimed.Green()
	w.metrics.Standby.Set(1)
	w.metrics.Step.Set(float64(ev.Step))
	w.now.Step = ev.Step
	if w.owner != ev.Owner {
		w.log.Info().Str("owner", ev.Owner).Int64("seq", ev.Seq).Msg("running as a standby")
	}
	w.owner = ev.Owner
}

// quarantining logs the first invalid record of a BATCH, and where the others are.
func (w *Watch) quarantining(ev event.Quarantining) {
	first, n := ev.Bad[0], 0
	where := make([]string, len(ev.Bad))
	for i, b := range ev.Bad {
		n += b.Records
		where[i] = fmt.Sprintf("%s/%d offsets %d to %d: %d", b.Topic, b.Partition, b.First, b.Last, b.Records)
	}
	line := w.log.Warn().Str("topic", first.Topic).Int32("partition", first.Partition).Int64("offset", first.First).Err(first.Err)
	if n > 1 {
		line = line.Int("more", n-1).Strs("bad", where)
	}
	line.Msg("invalid record published to quarantine")
}

// mostNames is the maximum number of columns that a line of the log names.
const mostNames = 20

// misread logs columns and labels of a new model that look as if they were of another type.
func (w *Watch) misread(ev event.Misread) {
	if len(ev.Texts) > 0 {
		w.log.Warn().Strs("columns", ev.Texts[:min(len(ev.Texts), mostNames)]).Msg("these categories look like texts: to learn from their words, begin a new model that declares them as text in input.columns")
	}
	if ev.Classes > 0 {
		w.log.Warn().Int("labels", ev.Classes).Msg("the labels are a few whole numbers, and are learned as values: if they are classes, begin a new model with learner.task: classification")
	}
	if ev.LongTail > 0 {
		LongTail(&w.log, ev.LongTail)
	}
}

// LongTail logs that few labels are far larger than all others.
func LongTail(log *zerolog.Logger, percent int) {
	log.Warn().Int("percent_of_variance", percent).Msg("the largest 1 % of the labels decide the error, and labels beyond ten standard deviations of the others count less: a model of the logarithm of the labels predicts small and large ones equally well")
}

// newClasses logs that labels have classes that none had before.
func (w *Watch) newClasses(ev event.NewClasses) {
	line := w.log.Warn().Int("new", ev.Number).Int("classes", ev.Known)
	if ev.Names != nil {
		line = line.Strs("names", ev.Names[:min(len(ev.Names), mostNames)])
	}
	line.Msg("labels have new classes, which are classes of the model for good: if they are errors, correct the producer, and begin a new model: without these records (accrete rebuild), or with input.max_classes")
}

// columns logs changes of the columns, and new fields that are not columns.
func (w *Watch) columns(ev event.Columns) {
	w.metrics.MissingColumns.Set(float64(ev.Missing))
	w.metrics.DroppedFields.Add(float64(ev.Dropped))
	if len(ev.Gone) > 0 {
		w.log.Warn().Strs("columns", ev.Gone[:min(len(ev.Gone), mostNames)]).Int("missing", ev.Missing).Msg("columns had no value in the last 1,000 records, learning without them")
	}
	if len(ev.Back) > 0 {
		w.log.Info().Strs("columns", ev.Back[:min(len(ev.Back), mostNames)]).Int("missing", ev.Missing).Msg("columns have values again")
	}
	if len(ev.Adopted) > 0 {
		w.metrics.AdoptedColumns.Add(float64(len(ev.Adopted)))
		w.log.Warn().Strs("columns", ev.Adopted[:min(len(ev.Adopted), mostNames)]).Msg("fields became columns, which a second model learns (input.on_change: adopt)")
	}
	if len(ev.New) > 0 {
		w.log.Warn().Strs("fields", ev.New[:min(len(ev.New), mostNames)]).Msg("records have fields that are not columns of the model, which are ignored (input.unknown)")
	}
}

// replayed starts the counters at the end of the history in the model log.
func (w *Watch) replayed(ev event.Replayed) {
	w.metrics.Replayed.Add(float64(ev.Batches))
	if in := ev.Progress.Inputs; in != nil {
		w.shifts = in.Alarms
	}
	if x := ev.Progress.Mixture; x != nil {
		w.outliers = x.Outliers
	}
	if n := len(ev.Snapshots); n > 0 {
		newest := ev.Snapshots[n-1]
		w.metrics.SnapshotBytes.Set(float64(newest.Size))
		if at := newest.Written(); !at.IsZero() {
			w.metrics.SnapshotTime.Set(float64(at.UnixMilli()) / 1000)
		}
	}
	w.metrics.Weighing.Start(&ev.Progress)
	w.kept(&ev.Kept)
	w.progress(ev.Progress)
	w.drifts = ev.Progress.Drifts
	w.from = startPoint{time.Now(), ev.Progress.Examples}
	w.claimed.Green()
	w.log.Info().Int("batches", ev.Batches).Int("records", ev.Records).Int("published", ev.Released).Dur("took_ms", ev.Took).Msg("learning")
}

func (w *Watch) refitted(ev event.Refitted) {
	m, bound := w.metrics, math.NaN()
	if ev.Refit.Suboptimality != nil {
		bound = *ev.Refit.Suboptimality
	}
	m.Refits.Inc()
	m.RefitTime.SetToCurrentTime()
	m.RefitGap.Set(ev.Refit.Gap)
	m.Suboptimal.Set(bound)
	w.log.Info().Str("challenger", ev.ID).Int64("seq", ev.Seq).Int64("step", ev.Step).Int64("rows", ev.Refit.Rows).
		Float64("gap", ev.Refit.Gap).Float64("suboptimality_bound", bound).Float64("passes", ev.Refit.Passes).
		Dur("read", ev.Read).Dur("took", ev.Took).Msg("refit")
}

// kept updates the state of what the model keeps of earlier records.
func (w *Watch) kept(k *event.Kept) {
	if k.Windows != nil {
		w.metrics.Windows.Add(k.Windows, w.windows)
		w.windows = k.Windows
	}
	for i := range k.Tables {
		t := &k.Tables[i]
		w.metrics.Tables.Add(nil, &t.Status, t.Lag, t.WithoutRow)
	}
	if k.Late != nil {
		w.late(k.Late)
	}
}

func (w *Watch) learned(ev event.Learned) {
	m := w.metrics
	m.Learned.Add(float64(ev.Counts.Learned))
	m.Predicted.Add(float64(ev.Counts.Predicted))
	m.Quarantined.Add(float64(ev.Counts.Quarantined))
	m.Skipped.Add(float64(ev.Counts.Skipped))
	m.Batches.Inc()
	m.LogAppend.Observe(ev.Append.Seconds())
	m.Learn.Observe(ev.Learn.Seconds())
	m.LastProgress.SetToCurrentTime()
	w.moving.Progress()
	w.labels.Red(w.labelled.observe(ev.Counts.Learned, ev.Counts.Predicted, time.Now()))
	w.now.Records += ev.Counts.Learned + ev.Counts.Predicted + ev.Counts.Quarantined
	w.now.Quarantined += ev.Counts.Quarantined
	w.kept(&ev.Kept)
	w.progress(ev.Progress)
	if ev.Late == nil && w.now.Examples == 0 && w.never.observe(ev.Counts.Predicted) {
		w.unlabelled()
	}
	w.drifted(ev.Progress)
	if ev.Missing != nil {
		m.Missing(func(yield func(string, float64) bool) {
			for _, c := range ev.Missing {
				if !yield(c.Column, c.Share) {
					return
				}
			}
		})
	}
	if ev.Estimated != nil {
		m.Estimated.Set(*ev.Estimated)
	}
	if f := ev.Deviation; f != nil {
		for _, q := range f.Quantiles {
			m.Deviation(q.Tau, q.Pinball, q.Below, nil)
		}
		m.Deviation(f.Tau, f.Pinball, f.Below, f.MAE)
		m.Crossed(f.Crossed)
		w.now.Figures = f
	}
	if f := ev.Figures; f != nil {
		var curve *metrics.Curve
		if c := f.Curve; c != nil {
			curve = &metrics.Curve{AUC: c.AUC, PRAUC: c.PRAUC, Precision: c.Precision, Recall: c.Recall}
		}
		m.Classes(f.F1, f.BalancedError, curve)
		m.Calibration(f.CalibrationError)
		for j, c := range f.Each[:min(len(f.Each), len(ev.Classes), metrics.MaxClassLabels)] {
			m.Class(ev.Classes[j], c.Recall, c.Precision)
		}
		if f.MeanCost != nil {
			m.Costs(*f.MeanCost, *f.ProbableCost)
		}
	}
}

// drifted counts and logs the alarms since the last batch.
func (w *Watch) drifted(p learner.Progress) {
	adwin, hinkley := p.Drifts.ADWIN-w.drifts.ADWIN, p.Drifts.PageHinkley-w.drifts.PageHinkley
	w.drifts = p.Drifts
	w.metrics.DriftADWIN.Add(float64(adwin))
	w.metrics.DriftPageHinkley.Add(float64(hinkley))
	if adwin+hinkley > 0 {
		w.log.Warn().Int64("examples", p.Examples).Int64("adwin", adwin).Int64("page_hinkley", hinkley).Float64("loss", p.Latest.Model.Loss).Msg("drift detected: the loss has grown")
	}
}

// outlying warns of labels that were not learned, since the last batch, because they are far from
// all others. all is the number of such labels since the model was created.
func (w *Watch) outlying(all int64) {
	w.metrics.Outliers.Set(float64(all))
	if all > w.outliers {
		w.log.Warn().Int64("labels", all-w.outliers).Int64("all", all).Msg("labels far from all others are not learned until labels like them are usual")
	}
	w.outliers = all
}

// progress updates the metrics from the learner's progress.
func (w *Watch) progress(p learner.Progress) {
	m := w.metrics
	w.inputs(p.Inputs)
	m.Weighing.Add(&p)
	m.Step.Set(float64(p.Step))
	m.Features.Set(float64(p.Features))
	if p.Cap.Memory > 0 {
		w.Cap(p.Cap)
	}
	w.now.Thinned = p.Thinned
	w.now.Examples, w.now.Step, w.now.Features, w.now.task = p.Examples, p.Step, p.Features, p.Task
	if x := p.Mixture; x != nil {
		for _, o := range x.Members {
			m.Member(o.Name, o.Weight, o.Scorer, o.Recent.Error)
		}
		m.Mixtures(x.Together.Recent.Error, x.Recent.Error)
		w.outlying(x.Outliers)
	}
	if s := p.Recent; s.Rows > 0 {
		m.Loss.Set(s.Model.Loss)
		w.now.Progressive, w.now.Each = &s.Model.Error, display.Progressive(p.Task, s).Each
		if p.Task == learner.Novelty { // which has no baselines
			m.Flagged(s.Model.Error)
			return
		}
		m.Progressive(s.Model.Error, s.Majority.Error, s.NoChange.Error, s.Linear.Error)
		if p.Task == learner.Regression {
			m.Explained(1-s.Model.Error, 1-s.Majority.Error, 1-s.NoChange.Error, 1-s.Linear.Error)
		}
		w.now.Baselines = &Baselines{s.Majority.Error, s.NoChange.Error, s.Linear.Error}
	}
}

func (w *Watch) lag(ev event.Lag) {
	w.metrics.Partition(ev.Topic, int(ev.Partition), ev.Next, ev.Next-ev.First)
	if !ev.Waiting {
		w.kafka.ProgressOf(Part(ev.Topic, int(ev.Partition)))
	}
	w.now.Lag = w.metrics.Lag.Set(ev.Topic, int(ev.Partition), ev.End-ev.Next)
	w.moving.Lag(w.now.Lag)
	w.blocked.Red(w.metrics.Blocked.Set(ev.Topic, int(ev.Partition), ev.Stable, ev.End))
}
