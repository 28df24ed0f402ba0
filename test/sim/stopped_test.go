package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// quiet returns a world whose model has learned everything, without faults.
func quiet() *world {
	w := newWorld(2)
	w.healthy = true
	w.config.Transactional, w.config.OnGap, w.config.History, w.config.Keep = false, "stop", 1<<30, 3
	w.config.BatchSize = 9
	w.feed(60)
	w.finish("at first")
	return w
}

// killed runs a command and kills its process at its append n, counted from 0: just
// before the append arrives, or just after it is stored. It returns false if the
// command has fewer appends, and so has ended.
func (w *world) killed(n int, stored bool, run func(context.Context, model.Config) error) (bool, error) {
	var done error
	p := w.process(func(ctx context.Context, _ *process, c model.Config) error {
		done = run(ctx, c)
		return nil
	})
	for {
		synctest.Wait()
		if w.over(p) {
			w.reap()
			return false, done
		}
		calls := w.c.ready(func(k *call) bool { return k.from == p })
		if len(calls) == 0 {
			time.Sleep(6 * time.Millisecond)
			continue
		}
		k := calls[0]
		_, produces := k.req.(*kmsg.ProduceRequest)
		if produces && n == 0 {
			if stored {
				w.c.handle(k.req)
			}
			w.alone()
			w.steps("the command is killed", func() bool { return len(w.processes) == 0 })
			return true, nil
		}
		if produces {
			n--
		}
		w.c.mu.Lock()
		w.c.remove(k)
		k.done <- answer{w.c.handle(k.req), true, nil}
		w.c.mu.Unlock()
	}
}

// atEachAppend calls test for a kill at each append of a command, until it returns
// false.
func atEachAppend(t *testing.T, test func(n int, stored bool) bool) {
	for _, stored := range []bool{false, true} {
		n := 0
		for test(n, stored) {
			if n++; n > 100 {
				t.Fatal("no end")
			}
		}
		if n == 0 {
			t.Error("the command was never killed")
		}
	}
}

func (w *world) verifies() {
	w.command("verify", func(ctx context.Context, c model.Config) error {
		v, err := audit.Verify(ctx, c)
		if err == nil && (v.Divergent > 0 || v.Compared == 0) {
			err = fmt.Errorf("%+v", v)
		}
		return err
	})
}

// counted returns the types of the records that count, without claims.
func (w *world) counted(log *part) (types []string) {
	f := modellog.NewFold(0, 1<<30)
	for _, r := range w.c.records(log) {
		v, err := f.Add(r.Offset, r.Key, r.Value)
		if err != nil {
			panic(err)
		}
		if v.Counts() && v.Type != "claim" {
			types = append(types, v.Type)
		}
	}
	return types
}

// TestAdoptIsKilledAtEachAppend repeats the command after the kill. It then writes what
// is left to write.
func TestAdoptIsKilledAtEachAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quiet()
		defer w.own.Close()
		w.learning() // decisions that no snapshot covers are rolled back by the adoption
		w.alone()
		log := w.c.part(model.LogTopic(modelName), 0)
		before := *log
		w.c.topics[w.input].id[0] ^= 1
		adopt := func(ctx context.Context, c model.Config) error {
			_, err := admin.Adopt(ctx, c, admin.Adoption{})
			return err
		}
		var want []string
		atEachAppend(t, func(n int, stored bool) bool {
			*log = before
			log.batches = slices.Clone(before.batches)
			log.writers = map[int64]*writer{}
			killed, err := w.killed(n, stored, adopt)
			if err != nil {
				t.Fatal(err)
			}
			w.command("adopt", adopt)
			if got := w.counted(log); want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				t.Errorf("killed at append %d (stored: %v): %v, want %v", n, stored, got[len(want)-2:], want[len(want)-2:])
			}
			if last := want[len(want)-2:]; !slices.Equal(last, []string{"rollback", "adopt"}) {
				t.Fatalf("the log ends with %v", last)
			}
			return killed
		})
		w.goOn("after the adoption")
		w.verifies()
		if w.violation != "" {
			t.Error(w.violation)
		}
	})
}

// TestImportIsKilledAtEachAppend repeats the command after the kill, as it says: in an
// empty topic if it had begun to write.
func TestImportIsKilledAtEachAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quiet()
		defer w.own.Close()
		name := model.LogTopic(modelName)
		want := w.fold(w.c.part(name, 0))
		var file bytes.Buffer
		w.command("export", func(ctx context.Context, c model.Config) error {
			_, err := admin.Export(ctx, c, &file)
			return err
		})
		load := func(ctx context.Context, c model.Config) error {
			_, err := admin.Import(ctx, c, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil })
			return err
		}
		var types []string
		atEachAppend(t, func(n int, stored bool) bool {
			delete(w.c.topics, name)
			killed, err := w.killed(n, stored, load)
			for killed && err == nil {
				if _, err = w.killed(-1, false, load); !errors.Is(err, admin.ErrCopy) {
					break
				}
				if f := w.fold(w.c.part(name, 0)); f.Genesis().Import == 0 && f.Seq() == want.Seq() { // it was complete
					err = nil
					break
				}
				wantsRefusal(t, w)
				delete(w.c.topics, name)
				err = nil
			}
			if err != nil {
				t.Fatalf("killed at append %d (stored: %v): %v", n, stored, err)
			}
			f := w.fold(w.c.part(name, 0))
			if f.Seq() != want.Seq() || f.Chain() != want.Chain() || f.Broken() != nil {
				t.Errorf("killed at append %d (stored: %v): seq %d, want %d; %v", n, stored, f.Seq(), want.Seq(), f.Broken())
			}
			if got := w.counted(w.c.part(name, 0)); types == nil {
				types = got
			} else if !slices.Equal(got, types) {
				t.Errorf("killed at append %d (stored: %v): %v, want %v", n, stored, got, types)
			}
			w.verifies()
			return killed
		})
		w.goOn("after the import")
		if w.violation != "" {
			t.Error(w.violation)
		}
	})
}

// wantsRefusal checks that no learner continues a part of an import.
func wantsRefusal(t *testing.T, w *world) {
	end := w.c.part(model.LogTopic(modelName), 0).end
	w.refused("a part of an import", isErrLog)
	if w.stopped = false; w.violation == "" && w.c.part(model.LogTopic(modelName), 0).end != end {
		t.Error("a learner has written to the log of an interrupted import")
	}
}
