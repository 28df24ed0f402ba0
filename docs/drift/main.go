// Command drift draws docs/drift.png: the error of the learner while the concept
// of the demo's stream changes, beside a linear model and a forest.
//
//	go run ./docs/drift -stream stream.csv          write the stream
//	python docs/drift/forest.py stream.csv >forest  the forest's errors (needs river)
//	go run ./docs/drift -forest forest -o docs/drift.png
package main

import (
	"bufio"
	"flag"
	"fmt"
	"image/color"
	"log"
	"os"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/accrete-ml/accrete/internal/synth"
	"github.com/accrete-ml/accrete/learner"
)

const (
	examples = 150_000
	window   = 1_000 // examples per point of a curve
)

func main() {
	stream := flag.String("stream", "", "write the stream as CSV to this file and stop")
	forest := flag.String("forest", "", "file with the errors of the forest, a line for each 1,000 examples")
	output := flag.String("o", "drift.png", "picture to write")
	flag.Parse()
	var err error
	if *stream != "" {
		err = writeStream(*stream)
	} else {
		err = draw(*output, *forest)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func writeStream(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	x := make([]float64, synth.Dim)
	for i := range int64(examples) {
		y := synth.Stream{Seed: 1}.At(i, x)
		for _, v := range x {
			fmt.Fprintf(w, "%v,", v)
		}
		fmt.Fprintln(w, y)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// learn returns the error of the model and of the linear baseline in each window.
func learn() (model, linear []float64, err error) {
	// As accrete fit does by default.
	c, err := learner.Config{Task: learner.Classification, Mixture: true, Discard: true, NormalScores: true, Warmup: learner.NewestWarmup}.WithForest("auto", false)
	if err != nil {
		return nil, nil, err
	}
	l, err := learner.New(c)
	if err != nil {
		return nil, nil, err
	}
	x := make([]float64, synth.Dim)
	batch := new(learner.Batch)
	for i := int64(0); i < examples; {
		batch.Reset(synth.Dim)
		for range window {
			class := synth.Stream{Seed: 1}.At(i, x)
			batch.Append(x, learner.Label{Task: learner.Classification, Class: class}, 1)
			i++
		}
		for rest := batch; rest.Len() > 0; {
			p := l.Predict(rest)
			rest = rest.Slice(p.Len(), rest.Len())
			l.Learn(p)
		}
		latest := l.Progress().Latest
		model = append(model, latest.Model.Error)
		linear = append(linear, latest.Linear.Error)
	}
	return model, linear, nil
}

func draw(output, forest string) error {
	model, linear, err := learn()
	if err != nil {
		return err
	}
	p := plot.New()
	p.Title.Text = "The concept changes at 50,000 and 100,000 examples"
	p.Title.Padding = vg.Points(6)
	p.X.Label.Text, p.Y.Label.Text = "examples", "error of the last 1,000"
	p.Y.Min, p.Y.Max = 0, 0.8 // room for the legend
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Padding = true, vg.Points(2)
	p.X.Tick.Marker = plot.TickerFunc(thousands)
	type curve struct {
		name   string
		color  color.RGBA
		errors []float64
	}
	curves := []curve{
		{"linear model", color.RGBA{213, 94, 0, 255}, linear},
		{"Accrete", color.RGBA{0, 114, 178, 255}, model},
	}
	if forest != "" {
		errors, err := readErrors(forest)
		if err != nil {
			return err
		}
		curves = append(curves, curve{"adaptive random forest", color.RGBA{0, 158, 115, 255}, errors})
	}
	for _, c := range curves {
		var points plotter.XYs
		for i, e := range c.errors {
			points = append(points, plotter.XY{X: float64((i + 1) * window), Y: e})
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = c.color, vg.Points(1.6)
		p.Add(line)
		p.Legend.Add(c.name, line)
	}
	bayes := plotter.NewFunction(func(float64) float64 { return synth.Bayes })
	bayes.Dashes, bayes.Color = []vg.Length{vg.Points(3), vg.Points(3)}, color.Gray{96}
	p.Add(bayes)
	p.Legend.Add("lowest possible", bayes)
	return p.Save(8*vg.Inch, 3.4*vg.Inch, output)
}

// thousands marks every 25,000 examples.
func thousands(_, _ float64) (ticks []plot.Tick) {
	for v := 0; v <= examples; v += 25_000 {
		ticks = append(ticks, plot.Tick{Value: float64(v), Label: strconv.Itoa(v/1000) + ",000"})
	}
	return ticks
}

func readErrors(path string) ([]float64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var errors []float64
	for _, s := range strings.Fields(string(b)) {
		e, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, err
		}
		errors = append(errors, e)
	}
	return errors, nil
}
