package learner

import (
	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/learner/internal/baseline"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/validation"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/internal/weighing"
)

// Progress is the progressive validation of a Learner, which predicts each row before
// it learns it, and of three baselines on the same rows.
type Progress struct {
	Task     Task
	Examples int64  // labelled rows so far, thinned ones included
	Step     int64  // mini-batches learned
	Warmup   int    // rows that the fit in effect used: 0 before the first, 1000 from the last on
	Features int    // random features in use
	Cap      Cap    // of them: with Config.Memory, MaxFeatures is 0 before the first fit
	Kernel   string // in use, with its scale; "" before the first fit
	Average  bool   // the average of the iterates serves, not the last of them
	Drifts   Drifts

	Whole  Scores // all rows
	Recent Scores // the last 10,000, and up to a hundred more
	Latest Scores // the last 1,000, likewise

	Intervals []IntervalScore // of each target, all rows; nil without Config.Intervals
	Inputs    *Inputs         // nil without Config.Monitor
	Thinned   *Thinned        // nil without Config.Balance
	Ages      *Ages           // nil without Config.HalfLife
	Mixture   *MixtureScores  // nil without Config.Mixture, and before the first label
}

// Inputs is what the monitor of the inputs has found: see Config.Monitor.
type Inputs = divergence.Found

// Thinned says what has become of the rows of frequent classes: see Config.Balance. Its fields are:
//
//	Rows    int64   // labelled rows
//	Thinned int64   // rows that were predicted and not learned
//	Least   float64 // share of rows kept, of the class that is thinned most
type Thinned = weighing.Chances

// Ages says how old the examples were when they were learned: see Config.HalfLife. Its fields and
// methods are:
//
//	Now     float64 // event time, in seconds since 1970; NaN before it is known
//	Rows    int64   // rows with a label and a time
//	Untimed int64   // rows with a label but without a time, which count fully
//	Sum     float64 // sum of the weights of the rows with a time
//
//	func (Ages) Mean() float64 // mean weight of the rows with a time; 1 before the first
type Ages = weighing.Ages

// IntervalScore is the accuracy of the intervals around the predictions of a target.
type IntervalScore struct {
	Coverage float64 // share of the labels in the interval of their prediction
	Width    float64 // mean width, in the label's units
}

// Scores are the errors on some rows, without the first labelled row of all, which
// nothing could predict. For several targets they are the means of those in Each.
type Scores struct {
	Rows int64
	Each []Scores // of each target; nil if there is one

	Model    Score
	Majority Score // the most frequent class so far; the mean so far
	NoChange Score // the last label
	Linear   Score // ridge regression; like Majority until it has learned a mini-batch. With Config.Mixture: the linear member with the greatest weight
}

// Score holds means over rows, weighted by the weights of the rows.
type Score struct {
	Error float64 // classification: share of wrong classes; regression: MSE / variance of the labels (nMSE); novelty: share of flagged rows
	MSE   float64 // regression only
	Loss  float64 // of the model only; see PredictedBatch.Loss
}

// MixtureScores are how good the members of a mixture are. For several targets they are
// means over these. The first row of a class does not count, and other rows count by their weight relative
// to the mean, and at most 1. So these errors can be compared with each other, but not with those of
// Progress where rows have different weights or classes are new.
type MixtureScores struct {
	Members  []MemberScore // the first is the algorithm
	Together MemberScore   // the mixture of all: Whole and Recent
	Scorer   Score         // of the mixture that a scorer has, all rows
	Recent   Score         // likewise, the last few thousand rows

	// Stacked is the share that the stacks have in the prediction. A stack adds the scores of the
	// members, each multiplied by a factor that is learned, where the mixture averages predictions.
	Stacked float64

	// Outliers is the number of rows that were not learned, since their label was a number
	// far from all others.
	Outliers int64
}

// MemberScore is how good a member of a mixture is on the rows that it has predicted.
type MemberScore struct {
	Name   string
	Labels bool    // whether it needs the labels of earlier rows, so that scorers do not have it
	Rows   float64 // share of the rows that it has predicted
	Weight float64 // in the predictions of the learner, from 0 to 1
	Scorer float64 // in those of a scorer
	Whole  Score   // all rows
	Recent Score   // the last few thousand
}

// Inputs returns what the monitor has found, and nil without Config.Monitor.
func (l *Learner) Inputs() *Inputs {
	if l.inputs == nil {
		return nil
	}
	f := l.inputs.Found()
	return &f
}

// Progress returns the progressive validation so far.
func (l *Learner) Progress() Progress {
	p := Progress{Drifts: l.drift.Alarms, Task: l.head.Task, Examples: l.examples(), Step: l.steps()}
	if b := l.weighing.Balance(); b != nil {
		of := b.Chances()
		p.Thinned = &of
	}
	if c := l.weighing.Clock(); c != nil {
		of := c.Ages()
		p.Ages = &of
	}
	p.Cap = l.limit()
	if l.fit != nil {
		p.Features, p.Average, p.Kernel = l.engine.Features(), l.engine.Served() > 0, l.fit.Kernel.String()
		for _, r := range l.checkpoints() {
			if int64(warmup.EffectiveAt(r)) <= l.labelled {
				p.Warmup = r
			}
		}
	}
	p.Inputs = l.Inputs()
	whole, long, short := make([]validation.Tally, len(l.validation)), make([]validation.Tally, len(l.validation)), make([]validation.Tally, len(l.validation))
	for j := range l.validation {
		r := &l.validation[j]
		whole[j], long[j], short[j] = r.Whole, r.Window(validation.RecentBuckets), r.Window(validation.LatestBuckets)
	}
	coverage, width := l.rules.Graded()
	for j := range coverage {
		p.Intervals = append(p.Intervals, IntervalScore{Coverage: coverage[j], Width: width[j]})
	}
	if l.mixture != nil {
		p.Mixture = l.mixtureScores()
	}
	p.Whole, p.Recent, p.Latest = scores(whole, l.head.Task), scores(long, l.head.Task), scores(short, l.head.Task)
	return p
}

// scoresOf returns the Scores of a tally.
func scoresOf(t *validation.Tally, task Task) Scores {
	s := Scores{Rows: t.Rows()}
	if t.Empty() {
		return s
	}
	variance, errors := t.Variance(), t.Errors()
	for i, score := range []*Score{&s.Model, &s.Majority, &s.NoChange, &s.Linear} {
		e := errors[i]
		switch {
		case task == Classification, task == Novelty:
			score.Error = e
		case variance > 0:
			*score = Score{Error: target.Finite(e / variance), MSE: e}
		default: // labels without variance: perfect, or as bad as no model
			*score = Score{Error: min(e, 1), MSE: e}
		}
	}
	s.Model.Loss = t.Loss()
	return s
}

// scores returns the Scores of the tallies of all targets.
func scores(of []validation.Tally, task Task) Scores {
	s := scoresOf(&of[0], task)
	if len(of) == 1 {
		return s
	}
	s = Scores{Rows: s.Rows}
	n := float64(len(of))
	for j := range of {
		one := scoresOf(&of[j], task)
		s.Each = append(s.Each, one)
		from := []Score{one.Model, one.Majority, one.NoChange, one.Linear}
		for i, to := range []*Score{&s.Model, &s.Majority, &s.NoChange, &s.Linear} {
			to.Error = target.Finite(to.Error + from[i].Error/n)
			to.MSE = target.Finite(to.MSE + from[i].MSE/n)
			to.Loss = target.Finite(to.Loss + from[i].Loss/n)
		}
	}
	return s
}

func (l *Learner) mixtureScores() *MixtureScores {
	names, n := l.mixture.Names(l.algorithm.Name), float64(l.head.Targets())
	s := &MixtureScores{Members: make([]MemberScore, len(names)), Outliers: l.mixture.Outliers()}
	for j := range l.head.Targets() {
		variance := 1.0
		if t := &l.validation[j].Whole; l.head.Task == Regression && !t.Empty() && t.Variance() > 0 {
			variance = t.Variance()
		}
		add := func(to *Score, loss, err float64) {
			to.Loss += loss / n
			to.Error += target.Finite(err/variance) / n
			if l.head.Task == Regression {
				to.MSE += err / n
			}
		}
		grades := l.mixture.Grades(j)
		for e, g := range grades[:len(names)] {
			m := &s.Members[e]
			m.Name, m.Labels = names[e], l.mixture.Labelled(e)
			if all := grades[len(names)].Graded; all > 0 {
				m.Rows += g.Graded / all / n
			}
			m.Weight += g.Weight * grades[len(names)].Weight / n
			m.Scorer += g.ServedWeight / n
			add(&m.Whole, g.Loss, g.Error)
			add(&m.Recent, g.RecentLoss, g.RecentError)
		}
		all := grades[len(names)]
		add(&s.Together.Whole, all.Loss, all.Error)
		add(&s.Together.Recent, all.RecentLoss, all.RecentError)
		s.Stacked += (1 - all.Weight) / n
		last := grades[len(names)+1]
		add(&s.Scorer, last.Loss, last.Error)
		add(&s.Recent, last.RecentLoss, last.RecentError)
	}
	return s
}

// validate adds the errors of the prediction for row i of p, and of the baselines, to
// the progressive validation.
func (l *Learner) validate(p *PredictedBatch, i int, y Label, weight float64) {
	if l.labelled == 0 || p.Size == 0 {
		return // nothing has been predicted
	}
	if k, late, ok := p.keptOf(i); late {
		if ok {
			l.validateKept(&k, y, weight)
		}
		return
	}
	f := p.scores(i)
	if l.head.Task == Novelty { // without baselines
		l.validation[0].Add(weight, [4]float64{p.head.Error(p.Row(i), y, 0)}, target.Finite(p.head.GradedLoss(f, nil, y, 0)), 0)
		return
	}
	linear := l.linearOf(p, i)
	frequent := Best(l.weights)
	for j := range l.validation {
		errors := [4]float64{
			p.head.Error(p.Row(i), y, j),
			baseline.Error(&l.head, y, j, frequent, l.means[j]),
			baseline.Error(&l.head, y, j, l.last.Class, l.last.At(j)),
		}
		errors[3] = errors[1]
		if linear != nil {
			class, value := baseline.Prediction(&l.head, linear, j)
			errors[3] = baseline.Error(&l.head, y, j, class, value)
		}
		if p.isMixed {
			values := p.linear[i*p.Size : (i+1)*p.Size]
			errors[3] = p.head.Error(values, y, j)
		}
		value := float64(y.Class)
		if l.head.Task == Regression {
			value = target.Bounded(y.At(j))
		}
		l.validation[j].Add(weight, errors, target.Finite(p.head.GradedLoss(f, p.Row(i), y, j)), value)
	}
}

// limit returns the maximum number of random features as it is now.
func (l *Learner) limit() Cap {
	of := l.config.Cap()
	if of.Memory > 0 && l.fit != nil {
		of.MaxFeatures = max(l.engine.Features(), l.config.MostFeatures(l.width(), l.head.Scores()))
	}
	return of
}
