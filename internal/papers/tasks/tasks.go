// Package tasks draws related classification tasks, for experiments and tests
// that compare metrics.
package tasks

import "github.com/accrete-ml/accrete/internal/vec"

// A Task is a set of points, row-major, with their classes.
type Task struct {
	Points  []float64
	Classes []int
}

// Related draws tasks of points of dim numbers in three classes. The class
// means differ in the first two numbers in every task, and differ more in one
// number that is specific to the task. The other numbers are noise with a
// greater standard deviation, 1/2. It returns points to learn from and points
// to test with.
func Related(seed uint64, tasks, train, test, dim int) (learn, check []Task) {
	normals := vec.NewNormals(vec.Key("related tasks", seed, 0))
	draw := make([]float32, dim)
	for j := range tasks {
		own := 2 + j%(dim-2)
		sample := func(n int) (t Task) {
			for i := range n {
				normals.Fill(draw)
				class := i % 3
				for k, v := range draw {
					x := 2 * float64(v)
					switch {
					case k == own:
						x = float64(float64(v)/2) + 2*float64(class)
					case k == class%2:
						x = float64(v) + 1.5
					case k < 2:
						x = float64(v)
					}
					t.Points = append(t.Points, x/4)
				}
				t.Classes = append(t.Classes, class)
			}
			return t
		}
		learn, check = append(learn, sample(train)), append(check, sample(test))
	}
	return learn, check
}
