package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

var choiceKills = flag.Bool("choice-kills", false, "kill learner, scorer and broker after each of hold, pin, promote and rollback (about 20 s)")

// killable is a cluster, a learner and a scorer that are killed and started together.
type killable struct {
	*testing.T
	broker          *fixedBroker
	start           func(args ...string) *learnerProcess
	learner, scorer *learnerProcess
	client          *ingest.Client
	rng             *rand.Rand
	url             string
}

func (k *killable) kill() {
	for _, p := range []*learnerProcess{k.learner, k.scorer} {
		p.Process.Kill() // SIGKILL
		p.Wait()
	}
	k.broker.kill()
	k.broker.start()
}

func (k *killable) run() { k.learner, k.scorer = k.start("learn"), k.start("score") }

// get returns the header Accrete-Serving and the body of an answer.
func (k *killable) get(path, body string) (mode, text string) {
	method := "GET"
	if body != "" {
		method = "POST"
	}
	r, err := http.NewRequestWithContext(k.Context(), method, k.url+path, strings.NewReader(body))
	if err != nil {
		k.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", ""
	}
	defer a.Body.Close()
	b, _ := io.ReadAll(a.Body)
	return a.Header.Get("Accrete-Serving"), string(b)
}

func (k *killable) step() (mode modellog.Mode, step int64) {
	m, text := k.get("/predict", `{"features":{"x":1,"y":0.5}}`)
	var a struct{ Step int64 }
	if json.Unmarshal([]byte(text), &a) != nil {
		return "", 0
	}
	return modellog.Mode(m), a.Step
}

func (k *killable) until(what string, ok func() bool) {
	k.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			mode, step := k.step()
			k.Fatalf("waited too long until %s: %s of step %d is served\nlearner: %s\nscorer: %s", what, mode, step, k.learner.stderr.tail(5), k.scorer.stderr.tail(5))
		}
	}
}

func (k *killable) steps(do func(int, string, ...string) string) (all []int64) {
	for _, s := range read[audit.LogReport](k.T, do(exit.Done, "", "inspect", "--json", "--records", "0")).Snapshots {
		all = append(all, s.Step)
	}
	return all // the newest first
}

// feed has the learner write another snapshot.
func (k *killable) feed(do func(int, string, ...string) string) {
	k.Helper()
	before := k.steps(do)[0]
	rs := make([]ingest.Record, 200)
	for i := range rs {
		rs[i] = ingest.Record{Time: time.Now().UnixMilli(), Value: ring(k.rng)}
	}
	if err := k.client.Producer().Publish(k.Context(), "in", 0, rs); err != nil {
		k.Fatal(err)
	}
	k.until("there is another snapshot", func() bool { return k.steps(do)[0] > before })
}

// What hold, pin, promote and rollback choose is served after SIGKILL of learner, scorer and
// broker, also when there are newer snapshots, and a damaged snapshot never is.
func TestChoicesSurviveKill9(t *testing.T) {
	if !*choiceKills {
		t.Skip("about 20 s: -choice-kills")
	}
	addr := kafkatest.Address(t)
	k := &killable{T: t, broker: newFixedBroker(t), rng: rand.New(rand.NewPCG(8, 1)), url: "http://" + addr}
	k.broker.start()
	t.Cleanup(k.broker.kill)
	k.client = kafkatest.ClientOf(t, k.broker.addr, nil)
	if err := k.client.Create(t.Context(), "asked", 1, nil); err != nil {
		t.Fatal(err)
	}
	var values []string
	for range 500 {
		values = append(values, string(ring(k.rng)))
	}
	kafkatest.Fill(t, k.client, "in", 1, values)
	k.start = learnerOf(t, k.broker.addr, "m", "in", fmt.Sprintf("score: {topics: [asked], http.listen: %q, http.predict: on}", addr), `learner: {max_features: 64, kernel: "gaussian:1.5", mixture: off}`)
	do := on(t, k.broker.addr)
	k.run()
	k.until("a model is served", func() bool { _, step := k.step(); return step > 0 })
	for range 3 {
		k.feed(do)
	}
	all := k.steps(do)
	pinned := all[len(all)-2]
	serves := func(what string, mode modellog.Mode, ok func(step int64) bool) {
		t.Helper()
		k.kill()
		k.run()
		for range 2 {
			k.until(what, func() bool { m, step := k.step(); return m == mode && ok(step) })
			k.feed(do)
		}
	}
	is := func(want int64) func(int64) bool { return func(step int64) bool { return step == want } }
	do(exit.Done, "", "pin", fmt.Sprint(pinned))
	serves("the pinned one is served", modellog.Pin, is(pinned))
	newest := k.steps(do)[0]
	do(exit.Done, "", "promote")
	serves("newer ones are served", modellog.Follow, func(step int64) bool { return step >= newest })
	do(exit.Done, "", "hold")
	var held int64
	k.until("it is held", func() bool { m, step := k.step(); held = step; return m == modellog.Hold })
	serves("the held one is served", modellog.Hold, is(held))

	k.learner.Process.Kill()
	k.learner.Wait()
	steps := k.steps(do)
	back := steps[slices.IndexFunc(steps, func(s int64) bool { return s < held })] // before the hold
	do(exit.Done, "", "rollback", "--to", fmt.Sprint(back))
	after := k.steps(do)
	if after[0] > back {
		t.Fatalf("after the rollback to step %d there are snapshots of steps %v", back, after)
	}
	serves("the rolled-back model is served, and what it learns", modellog.Follow, func(step int64) bool { return step >= back })

	do(exit.Done, "", "hold")
	k.until("it is held", func() bool { m, step := k.step(); held = step; return m == modellog.Hold })
	do(exit.Done, "", "promote")
	k.until("it is released", func() bool { m, _ := k.step(); return m == modellog.Follow })
	k.learner.Process.Kill()
	k.learner.Wait()
	good := k.steps(do)[0]
	learntest.DamageNewest(t, k.client, "m.log")
	k.scorer.Process.Kill()
	k.scorer.Wait()
	k.scorer = k.start("score")
	k.until("the snapshot before the damaged one is served", func() bool { _, step := k.step(); return step == good })
	if _, text := k.get("/readyz", ""); !strings.Contains(text, "cannot be used") {
		t.Errorf("/readyz says nothing of the damaged snapshot: %s", text)
	}
}
