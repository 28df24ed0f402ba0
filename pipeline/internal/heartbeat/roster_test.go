package heartbeat

import "testing"

// turnIn passes a script to a roster, in which each letter is a heartbeat: s of this
// standby, o of the owner of epoch 3, z of an owner that has lost its claim, p and q of
// other standbys that joined before and after this one, l of the owner leaving, P of p
// leaving. It returns after how many heartbeats the roster was due; 0 if it never was.
func turnIn(script string, before func(r *Roster, at int)) int {
	r := &Roster{self: "s", Joined: 10, others: map[string]*peer{}}
	for i, c := range script {
		if before != nil {
			before(r, i)
		}
		b := map[rune]Beat{
			's': {Role: Standby, Process: "s", Joined: 10},
			'o': {Role: Owner, Process: "o", Epoch: 3},
			'z': {Role: Owner, Process: "z", Epoch: 2},
			'p': {Role: Standby, Process: "p", Joined: 5},
			'q': {Role: Standby, Process: "q", Joined: 15},
			'l': {Role: Left, Process: "o", Epoch: 3},
			'P': {Role: Left, Process: "p"},
			'x': {Role: Left, Process: "x", Epoch: 2},
			'f': {Role: Fenced, Process: "z", Epoch: 2},
		}[c]
		r.See(int64(20+i), b, 3)
		if r.Due(3) {
			return i + 1
		}
	}
	return 0
}

func TestStandbyTakesItsTurn(t *testing.T) {
	for _, test := range []struct {
		script string
		turn   int
		why    string
	}{
		{"sosososososososo", 0, "the owner lives"},
		{"sososssssss", 8, "the owner is silent for four of ours"},
		{"ssss", 4, "there is no owner"},
		{"szszszszszsz", 7, "an owner that lost its claim is none"},
		{"soslssss", 4, "the owner has left"},
		{"sosxsosxsos", 0, "an earlier owner has left"},
		{"sofsosofsos", 0, "a fenced learner is not the owner"},
		{"soqsqsqsqsqs", 10, "a standby that came later waits for us"},
		{"sopspspspspspspspsps", 0, "a standby that came earlier goes first"},
		{"sopspspssssssss", 12, "and so does none that is silent itself"},
		{"sopspspspspPssss", 12, "or that has left"},
		{"sopsopsoplsssss", 15, "the owner has left, and the standby before us is silent"},
	} {
		if got := turnIn(test.script, nil); got != test.turn {
			t.Errorf("%s: its turn came at %d, want %d: %s", test.script, got, test.turn, test.why)
		}
	}
}

func TestStandbyIsPatientAfterAnOutage(t *testing.T) {
	outage := func(r *Roster, at int) {
		if at == 4 {
			r.Interrupted()
		}
	}
	const script = "sososssssssssssssssssssssssssssss"
	if got, want := turnIn(script, outage), 4+patientBeats; got != want {
		t.Errorf("its turn came at %d, want %d", got, want)
	}
	if got, want := turnIn("sososssssosssssss", outage), 14; got != want {
		t.Errorf("the owner was heard again: its turn came at %d, want %d", got, want)
	}
}
