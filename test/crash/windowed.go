package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/test/oracle/keyed"
)

// Payments of cards, of which some come all the time and most are rare, so that keys are evicted.
const (
	busyCards  = 600
	rareCards  = 20_000
	windowKeys = 2000
)

// windowsInput returns the options of the input for records with windows: one over event time,
// and one over the keys and timestamps of the records.
func (w *world) windowsInput() string {
	if !w.windows {
		return ""
	}
	return fmt.Sprintf(`, columns: {card: id, shop: id, at: id}, windows: [{key: card, of: amount, distinct: shop, time: at, over: [30s, 10m], features: [count, sum, mean, deviation, distinct, since], lateness: 5m, keys: %d}, {over: [2s], features: [count, since], keys: 100}]`, windowKeys)
}

// payment returns example i of n: one payment a second, of which one in ten is late, some by far
// too much, and some have a time far ahead, or lack something. The label depends on the earlier
// payments of the card.
func payment(i, n int) []byte {
	r := rand.New(rand.NewPCG(13, uint64(i)))
	card := r.IntN(busyCards)
	if r.IntN(5) == 0 {
		card = busyCards + r.IntN(rareCards)
	}
	at := 1_750_000_000 + float64(i)
	switch u := r.IntN(400); {
	case u < 32:
		at -= math.Round(1000*r.ExpFloat64()*100) / 1000
	case u < 40:
		at -= 5000
	case u == 40:
		at += 2.3e9
	}
	usual := math.Exp(float64(card%7) + .3*r.NormFloat64())
	label := "a"
	if r.IntN(8) == 0 {
		usual, label = usual*20, "b"
	}
	v := fmt.Appendf(nil, `{"at":%.3f,"amount":%.5g`, at, usual)
	if i == 0 || r.IntN(50) > 0 {
		v = fmt.Appendf(v, `,"card":"c%d"`, card)
	}
	if i == 0 || r.IntN(50) > 0 {
		v = fmt.Appendf(v, `,"shop":%d`, r.IntN(60))
	}
	if i < n-n/50 || i%2 == 0 { // the last ones are not all learned
		v = fmt.Appendf(v, `,"label":"%s"`, label)
	}
	return append(v, '}')
}

// paymentKey and paymentTime are the key and the timestamp of the record of example i.
func paymentKey(i int) []byte {
	return fmt.Appendf(nil, "k%d", rand.New(rand.NewPCG(17, uint64(i))).IntN(300))
}

func (w *world) paymentTime(i int) int64 {
	return w.began + int64(i) - rand.New(rand.NewPCG(19, uint64(i))).Int64N(1000)
}

// checkWindows returns an error if what the oracle has compared shows too little.
func (s *Summary) checkWindows(o options) error {
	var faults []error
	if s.Features < int64(s.Examples) {
		faults = append(faults, fmt.Errorf("%d features of windows were compared, of %d examples", s.Features, s.Examples))
	}
	if w := s.Windows; s.Examples >= 5000 && (w.Late == 0 || w.Stale == 0 || w.Dropped == 0 || w.Evicted == 0) {
		faults = append(faults, fmt.Errorf("rows of windows: %+v: none of them is wanted to be 0", w))
	}
	if o.scorers > 0 && s.Scores < int64(s.ToScore) {
		faults = append(faults, fmt.Errorf("%d scores of %d records were compared", s.Scores, s.ToScore))
	}
	return errors.Join(faults...)
}

// windowFigures is what the oracle has compared of windows.
type windowFigures struct {
	Features int64        `json:"window_features,omitempty"` // compared with their definition
	Windows  keyed.Counts `json:"windows"`                   // of their rows
	Scores   int64        `json:"scores_compared,omitempty"` // of models with windows, with those of the learner's model at the same place
}
