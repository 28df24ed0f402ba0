// Package payments generates payments by card, some of which are fraud. A thief pays like some
// other customer, not like the owner of the card, and often several times within a short time. A
// payment alone therefore reveals little, but in comparison with the earlier payments of the card
// it reveals fraud.
package payments

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

// Payment is one record of the stream.
type Payment struct {
	At       float64 // seconds since 1970
	Card     int
	Merchant int
	Amount   float64
	Fraud    bool
}

const (
	cards     = 500
	merchants = 200
	start     = 1_750_000_000
	day       = 86400.0
	theft     = 0.012 // share of the payments that are followed by a theft of the card
)

// customer is the owner of a card: the usual amounts of payments, how much they vary, how often
// they occur, and where.
type customer struct {
	mean, spread, interval float64
	shops                  [5]int
}

// Stream is an endless sequence of payments in the order of their times. It depends on the
// seed alone.
type Stream struct {
	r     *rand.Rand
	cards []customer
	next  upcoming
}

// New returns the stream of a seed.
func New(seed uint64) *Stream {
	s := &Stream{r: rand.New(rand.NewPCG(seed, 1))}
	for card := range cards {
		s.cards = append(s.cards, s.customer())
		s.next = append(s.next, event{at: start + s.r.Float64()*day, card: card})
	}
	heap.Init(&s.next)
	return s
}

func (s *Stream) customer() customer {
	c := customer{mean: 3 + 1.2*s.r.NormFloat64(), spread: 0.3, interval: day * math.Exp(0.5*s.r.NormFloat64())}
	for i := range c.shops {
		c.shops[i] = s.r.IntN(merchants)
	}
	return c
}

// Next returns the next payment.
func (s *Stream) Next() Payment {
	e := heap.Pop(&s.next).(event)
	c := s.cards[e.card]
	p := Payment{At: math.Floor(e.at), Card: e.card}
	if thief := e.thief; thief != nil {
		p.Fraud, p.Merchant = true, s.r.IntN(merchants)
		p.Amount = amount(s.r, thief)
		if e.left > 0 {
			heap.Push(&s.next, event{at: e.at + 60 + 600*s.r.ExpFloat64(), card: e.card, thief: thief, left: e.left - 1})
		}
		return p
	}
	p.Merchant, p.Amount = c.shops[s.r.IntN(len(c.shops))], amount(s.r, &c)
	heap.Push(&s.next, event{at: e.at + c.interval*s.r.ExpFloat64(), card: e.card})
	if s.r.Float64() < theft {
		thief := s.customer()
		thief.mean += 0.5
		heap.Push(&s.next, event{at: e.at + day*s.r.Float64(), card: e.card, thief: &thief, left: 2 + s.r.IntN(6)})
	}
	return p
}

func amount(r *rand.Rand, c *customer) float64 {
	return math.Round(100*math.Exp(c.mean+c.spread*r.NormFloat64())) / 100
}

// event is a future payment, by the owner of the card or by a thief.
type event struct {
	at    float64
	card  int
	thief *customer
	left  int // further payments by the thief
}

type upcoming []event

func (u upcoming) Len() int           { return len(u) }
func (u upcoming) Less(i, j int) bool { return u[i].at < u[j].at }
func (u upcoming) Swap(i, j int)      { u[i], u[j] = u[j], u[i] }
func (u *upcoming) Push(e any)        { *u = append(*u, e.(event)) }
func (u *upcoming) Pop() any {
	e := (*u)[len(*u)-1]
	*u = (*u)[:len(*u)-1]
	return e
}
