// Crashtest kills the real learner with SIGKILL many times in one run, and checks
// that the kills have no effect: the state hash equals that of an uninterrupted
// run, every example has its prediction, and all copies of a prediction are
// identical. test/oracle, which reads the topics independently, must agree. The
// test can also pause learners and resume them after a successor has taken over,
// kill the broker, disturb the network, and kill a learner at every request.
//
//	go run ./test/crash --kills 100
//	go run ./test/crash --kills 1000 --scorers 60 --zombies 20 --outages 20 --resets 300 --failpoints
//	go run ./test/crash --kills 100 --refit 20ms
//	go run ./test/crash --kills 100 --mixed --scorers 20
//	go run ./test/crash --kills 100 --late --examples 1000000
//	go run ./test/crash --kills 100 --adopt
//	go run ./test/crash --kills 100 --windows --scorers 20
//	go run ./test/crash --kills 100 --tables --partitions 3
//	go run ./test/crash --kills 100 --form avro --scorers 20 --transactional
//	go run ./test/crash --soak 20m
//	go run ./test/crash --restarts 20
//	go run ./test/crash --kills 300 --tail-loss 60
//	go run ./test/crash --slowdown 5 --examples 300000
//	go run ./test/crash --kills 100 --partitions 3 --brokers localhost:9092
//	go run ./test/crash --kills 0 --outages 20 --kafka .ci/kafka.sh
//
// It exits with 1 if anything differs, or if the kills missed one of the required
// cases: the warm-up, a snapshot partly written, a BATCH decided and not yet
// released.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/test/oracle"
)

type options struct {
	kills      int
	scorers    int
	zombies    int
	outages    int
	resets     int
	failpoints bool
	refit      time.Duration
	soak       time.Duration
	restarts   int
	tailLosses int
	pairs      int
	rate       int
	examples   int
	partitions int
	exactly    bool
	mixed      bool
	late       bool
	adopt      bool
	windows    bool
	tables     bool
	form       string
	byTime     bool
	weighed    bool
	brokers    string
	kafka      string
	seed       uint64
	planted    string
	json       bool
	keep       bool
	log        func(format string, args ...any)
}

// Summary is the result of a run, printed with --json.
type Summary struct {
	Kills       int    `json:"kills"` // processes that were ended by SIGKILL
	WarmUp      int    `json:"kills_in_warm_up"`
	Chunks      int    `json:"kills_during_chunks"`
	Rivals      int    `json:"kills_during_challengers"`
	Unreleased  int    `json:"kills_between_ack_and_release"`
	Recovering  int    `json:"kills_during_recovery"` // right after the CLAIM that follows another kill
	Zombies     int    `json:"zombies"`               // processes stopped, replaced and resumed, that exited with 76
	Outages     int    `json:"broker_kills"`
	Recovery    times  `json:"seconds_to_learn_again"` // after an outage
	Resets      int    `json:"connections_hurt"`
	Steps       int    `json:"io_steps"` // steps at which a learner was killed, in turn
	Examples    int    `json:"examples"`
	Duplicates  int    `json:"duplicates"` // predictions written more than once
	Differing   int    `json:"duplicates_differing"`
	Lost        int    `json:"lost"`        // examples without a prediction
	Divergences int    `json:"divergences"` // state hashes or predictions that differ from the reference's
	Compared    int    `json:"compared"`    // state hashes that the oracle recomputed
	Verified    int    `json:"verified"`    // state hashes that verify recomputed
	Proved      int    `json:"proved"`      // random predictions that prove computed again
	Refits      int    `json:"refits"`      // challengers that verify solved again
	StateHash   string `json:"state_hash"`

	ScorerKills     int `json:"scorer_kills"`
	ToScore         int `json:"asked"`    // records to be scored
	Unscored        int `json:"unscored"` // records without a score
	Rescored        int `json:"scores_repeated"`
	ScoresTwice     int `json:"scores_repeated_by_same_model"`
	ScoresDiffering int `json:"scores_differing"` // repeated scores that differ from the first

	Quarantined int       `json:"quarantined"`     // examples, with mixed records
	Alike       int       `json:"predicted_alike"` // records that learner and scorer predicted with the same model
	Memory      footprint `json:"memory"`

	windowFigures
	Tables oracle.TableCounts `json:"tables"` // of rows, and of records with and without one

	Seconds float64 `json:"seconds"`
}

// times are durations in seconds.
type times struct {
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	all    []float64
}

func (t *times) add(d time.Duration) {
	i, _ := slices.BinarySearch(t.all, d.Seconds())
	t.all = slices.Insert(t.all, i, d.Seconds())
	t.Median, t.Max = t.all[len(t.all)/2], t.all[len(t.all)-1]
}

// flags reads the options of the command line.
func flags() (o options) {
	flag.IntVar(&o.kills, "kills", 100, "how often the learner is killed")
	flag.IntVar(&o.scorers, "scorers", 0, "how often a scorer is killed, beside the learners; three of them share a topic")
	flag.IntVar(&o.zombies, "zombies", 0, "how often a learner is stopped, replaced and woken up")
	flag.IntVar(&o.outages, "outages", 0, "how often the broker is killed and started again under a learner at work")
	flag.IntVar(&o.resets, "resets", 0, "how many connections are reset, slowed down or left half open")
	flag.BoolVar(&o.failpoints, "failpoints", false, "kill a learner at each step of its input and output in turn")
	flag.DurationVar(&o.refit, "refit", 0, "have the learner refit itself so often; 300 kills have to hit a challenger half written")
	flag.DurationVar(&o.soak, "soak", 0, "instead of all that, feed one learner for so long, with a fault every 30 s, and watch what it holds")
	flag.IntVar(&o.restarts, "restarts", 0, "instead of all that, kill a learner with a large model at full load so often, and measure how long it takes until its successor learns")
	flag.IntVar(&o.tailLosses, "tail-loss", 0, "instead of all that, kill a learner --kills times, and this often have the model log lose its last batches, half of the times under a running learner")
	flag.IntVar(&o.pairs, "slowdown", 0, "instead of all that, learn the topic so often with refits, every --refit (1s), and as often without, by turns, and compare")
	flag.IntVar(&o.rate, "rate", 10_000, "examples a second of a soak or of restarts")
	flag.IntVar(&o.examples, "examples", 100_000, "length of the stream")
	flag.IntVar(&o.partitions, "partitions", 1, "partitions of the input topic")
	flag.BoolVar(&o.exactly, "transactional", false, "release predictions in transactions")
	flag.StringVar(&o.brokers, "brokers", "", "a running Kafka, host:port; empty: the embedded broker in a process of its own")
	flag.StringVar(&o.kafka, "kafka", "", "a script that starts, kills and stops a Kafka, and prints its host:port when it starts it: .ci/kafka.sh")
	flag.Uint64Var(&o.seed, "seed", 1, "of the instants at which it kills")
	flag.StringVar(&o.planted, "planted", "", "build the learner with a planted fault (internal/planted), which the checks have to find")
	flag.BoolVar(&o.mixed, "mixed", false, "examples that also have categories, of 10⁵ and of ever new values, text, times, nested and missing values, columns that come and go, and 1 % garbage; the learners' memory is compared with the formula, and a scorer with the learner")
	flag.BoolVar(&o.late, "late", false, "labels in a topic of their own, up to 2,000 events later, with duplicates, losses and time-outs; what is graded is compared with the predictions in the topic")
	flag.BoolVar(&o.adopt, "adopt", false, "columns that appear, are renamed, change type and vanish, which the model adopts")
	flag.BoolVar(&o.windows, "windows", false, "examples with windows, of which some are late, and keys that are evicted; all features, and all scores, are compared with their definition")
	flag.BoolVar(&o.tables, "tables", false, "examples with the rows of a compacted topic, which are set, replaced, deleted and evicted; what the model log and each snapshot have of them is compared with the topic")
	flag.StringVar(&o.form, "form", "json", "form of predictions: json, avro or protobuf; they are read by the schemas of a registry")
	flag.BoolVar(&o.byTime, "by-time", false, "learn the records of several partitions in the order of their times")
	flag.BoolVar(&o.weighed, "weighed", false, "thin one of the classes, and weight examples by their ages; with --mixed, those of a field")
	flag.BoolVar(&o.json, "json", false, "print the summary as one JSON object")
	flag.BoolVar(&o.keep, "keep", false, "keep the temporary directory")
	flag.Parse()
	return o
}

func main() {
	o := flags()
	o.log = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.soak > 0 {
		s, err := alone(ctx, o, (*world).soak)
		if o.json {
			json.NewEncoder(os.Stdout).Encode(s)
		} else if s.Seconds > 0 {
			s.print()
		}
		exit(stop, err)
	}
	if o.late {
		s, err := alone(ctx, o, (*world).killLate)
		json.NewEncoder(os.Stdout).Encode(s)
		exit(stop, err)
	}
	if o.adopt {
		s, err := alone(ctx, o, (*world).killAdopting)
		json.NewEncoder(os.Stdout).Encode(s)
		exit(stop, err)
	}
	if o.restarts > 0 {
		s, err := alone(ctx, o, (*world).restart)
		json.NewEncoder(os.Stdout).Encode(s)
		exit(stop, err)
	}
	if o.tailLosses > 0 {
		s, err := alone(ctx, o, (*world).tailLosses)
		json.NewEncoder(os.Stdout).Encode(s)
		exit(stop, err)
	}
	if o.pairs > 0 {
		s, err := alone(ctx, o, (*world).slowdown)
		json.NewEncoder(os.Stdout).Encode(s)
		exit(stop, err)
	}
	start := time.Now()
	s, err := run(ctx, o)
	s.Seconds = time.Since(start).Seconds()
	if o.json {
		json.NewEncoder(os.Stdout).Encode(s)
	} else {
		fmt.Printf("%d kills (%d in warm-up, %d during chunks, %d between ack and release) over %d examples in %.0f s\n", s.Kills, s.WarmUp, s.Chunks, s.Unreleased, s.Examples, s.Seconds)
		if s.Zombies+s.Outages+s.Resets+s.Steps > 0 {
			fmt.Printf("%d zombies, %d broker kills (learning again within %.1f s, in the median %.1f s), %d bad connections, %d steps of I/O\n", s.Zombies, s.Outages, s.Recovery.Max, s.Recovery.Median, s.Resets, s.Steps)
		}
		if o.scorers > 0 {
			fmt.Printf("%d scorers killed: %d of %d records without a score, %d scores repeated, %d of them by the same model, of which %d differ\n", s.ScorerKills, s.Unscored, s.ToScore, s.Rescored, s.ScoresTwice, s.ScoresDiffering)
		}
		if o.refit > 0 {
			fmt.Printf("%d challengers solved again, %d kills while one was written\n", s.Refits, s.Rivals)
		}
		if o.mixed {
			fmt.Printf("%d examples in quarantine, %d predicted alike by learner and scorer, at most %d MB of memory in %d samples, where the formula says %d MB\n", s.Quarantined, s.Alike, s.Memory.Most/1e6, s.Memory.Samples, s.Memory.Limit/1e6)
		}
		if o.windows {
			fmt.Printf("%d features of windows and %d scores compared, %+v, at most %d MB of memory\n", s.Features, s.Scores, s.Windows, s.Memory.Most/1e6)
		}
		if o.tables {
			fmt.Printf("rows of tables: %+v; at most %d MB of memory in %d samples\n", s.Tables, s.Memory.Most/1e6, s.Memory.Samples)
		}
		fmt.Printf("%d divergences, %d lost, %d duplicates of which %d differ, %d state hashes and %d predictions computed again\n", s.Divergences, s.Lost, s.Duplicates, s.Differing, s.Compared, s.Proved)
	}
	exit(stop, err)
}

func exit(stop func(), err error) {
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
