package refit

import (
	"context"
	"math"
	"testing"
)

func TestContestsHaveOneOptimum(t *testing.T) {
	tasks, _ := RelatedTasks(1, 3, 20, 0, 4)
	metric, err := MetricContest("tasks", tasks, 4, MetricConfig{}, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	sparse := SparseContest("documents", 1, 200, 40, 10, 5, 8, 3, 1e-3, 1e-1)
	for _, c := range []*Contest{FactoredContest(1, 200, 12, 4, 3, 1e-3, 1e-1), sparse, MatrixContest(1, 20, 3, 3, 4, 1), metric} {
		names := []string{}
		curves, err := c.Run(context.Background(), 0, 2000, nil, func(name string) { names = append(names, name) })
		if err != nil || len(curves) != len(c.entries) || len(names) != len(curves) {
			t.Fatalf("%s: %d curves, error %v", c.Title, len(curves), err)
		}
		best := curves[0].Points[len(curves[0].Points)-1]
		for _, curve := range curves {
			last := curve.Points[len(curve.Points)-1]
			if last.Gap() > 1e-6 || math.Abs(last.Primal-best.Primal) > 1e-6 {
				t.Errorf("%s: %s ends at %v with a gap of %v, %s at %v", c.Title, curve.Name, last.Primal, last.Gap(), curves[0].Name, best.Primal)
			}
		}
	}
}

func TestContestKeepsToItsSeconds(t *testing.T) {
	var now float64
	curves, err := MatrixContest(1, 20, 3, 3, 4, 1).Run(context.Background(), 20, 1e6, func() float64 { now++; return now }, nil)
	if err != nil || len(curves) != 4 {
		t.Fatalf("%d curves, error %v", len(curves), err)
	}
	for _, c := range curves {
		if last := c.Points[len(c.Points)-1]; last.Seconds < 20 || last.Seconds > 22 {
			t.Errorf("%s took %v s", c.Name, last.Seconds)
		}
	}
}
