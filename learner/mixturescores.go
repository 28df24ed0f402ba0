package learner

import "github.com/accrete-ml/accrete/learner/internal/target"

// MixtureScores are how good the members of a mixture are. For several targets they are
// means over these.
type MixtureScores struct {
	Members []MemberScore // the first is the algorithm
	Scorer  Score         // of the mixture that a scorer has, all rows
	Recent  Score         // likewise, the last few thousand rows

	// Stacked is the share of the prediction that stacks have: they add the scores of
	// the members, each times a factor that is learned, where the mixture averages them.
	Stacked float64
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

func (l *Learner) mixtureScores() *MixtureScores {
	names, n := l.mixture.Names(l.algorithm.Name), float64(l.head.Targets())
	s := &MixtureScores{Members: make([]MemberScore, len(names))}
	for j := range l.head.Targets() {
		variance := 1.0
		if t := &l.validation[j].whole; l.head.Task == Regression && t[tallyWeight] > 0 && t[tallyVariance] > 0 {
			variance = t[tallyVariance] / t[tallyWeight]
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
		s.Stacked += (1 - grades[len(names)].Weight) / n
		last := grades[len(names)+1]
		add(&s.Scorer, last.Loss, last.Error)
		add(&s.Recent, last.RecentLoss, last.RecentError)
	}
	return s
}
