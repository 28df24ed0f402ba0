package dsg

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// NoLIBSVM is the message for a comparison with LIBSVM (Chang and Lin 2011) that was not run.
const NoLIBSVM = "LIBSVM was not run: svm-train and svm-predict are not installed (package libsvm-tools)"

// libsvm runs the programs of LIBSVM: a support vector machine with the Gaussian kernel, which is
// one-vs-one for more than two classes.
type libsvm struct{ train, predict string }

// findLIBSVM returns the programs and reports whether they are installed.
func findLIBSVM() (l libsvm, ok bool) {
	var missing, without error
	l.train, missing = exec.LookPath("svm-train")
	l.predict, without = exec.LookPath("svm-predict")
	return l, missing == nil && without == nil
}

// libsvmResult is the result for one support vector machine.
type libsvmResult struct {
	seconds     float64 // of processor time to learn
	vectors     int
	error, test float64 // shares of wrong classes among training rows and test rows
}

// libsvmRows are rows in memory with their classes, which are 0, 1, … or -1 and 1.
type libsvmRows struct {
	x     []float32 // rows × dim
	class []float64
}

// run learns the training rows with the given scale of the kernel and penalty C, and predicts both
// sets.
func (l libsvm) run(ctx context.Context, train, test libsvmRows, dim int, scale, c float64) (r libsvmResult, err error) {
	dir, err := os.MkdirTemp("", "accrete-libsvm")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	model := filepath.Join(dir, "model")
	paths := map[string]libsvmRows{filepath.Join(dir, "train"): train, filepath.Join(dir, "test"): test}
	for path, rows := range paths {
		if err := rows.write(path, dim); err != nil {
			return r, err
		}
	}
	gamma := strconv.FormatFloat(1/(2*scale*scale), 'g', -1, 64)
	learn := exec.CommandContext(ctx, l.train, "-q", "-t", "2", "-m", "500", "-g", gamma, "-c", strconv.FormatFloat(c, 'g', -1, 64), filepath.Join(dir, "train"), model) // #nosec G204 -- a program of the user's path, with numbers
	if out, err := learn.CombinedOutput(); err != nil {
		return r, fmt.Errorf("svm-train: %w: %s", err, out)
	}
	r.seconds = (learn.ProcessState.UserTime() + learn.ProcessState.SystemTime()).Seconds()
	if r.vectors, err = supportVectors(model); err != nil {
		return r, err
	}
	for name, to := range map[string]*float64{"train": &r.error, "test": &r.test} {
		if len(paths[filepath.Join(dir, name)].class) == 0 {
			continue
		}
		if *to, err = l.wrong(ctx, filepath.Join(dir, name), model); err != nil {
			return r, err
		}
	}
	return r, nil
}

// wrong returns the share of wrong classes in a file of rows.
func (l libsvm) wrong(ctx context.Context, rows, model string) (float64, error) {
	out, err := exec.CommandContext(ctx, l.predict, rows, model, os.DevNull).CombinedOutput() // #nosec G204 -- a program of the user's path
	if err != nil {
		return 0, fmt.Errorf("svm-predict: %w: %s", err, out)
	}
	var share float64
	if _, err := fmt.Sscanf(string(out), "Accuracy = %f%%", &share); err != nil {
		return 0, fmt.Errorf("svm-predict: %w in %q", err, out)
	}
	return 1 - share/100, nil
}

// write writes rows in the format of LIBSVM.
func (r libsvmRows) write(path string, dim int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i, y := range r.class {
		_, _ = fmt.Fprintf(w, "%g", y)
		for j, v := range r.x[i*dim : (i+1)*dim] {
			if v != 0 {
				_, _ = fmt.Fprintf(w, " %d:%g", j+1, v)
			}
		}
		_ = w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// supportVectors reads the number of support vectors from a model file.
func supportVectors(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadString('\n')
		if n, found := strings.CutPrefix(line, "total_sv "); found {
			return strconv.Atoi(strings.TrimSpace(n))
		}
		if err == io.EOF {
			return 0, fmt.Errorf("the model of svm-train has no total_sv")
		}
		if err != nil {
			return 0, err
		}
	}
}
