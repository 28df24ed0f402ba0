package refit

import "github.com/accrete-ml/accrete/internal/vec"

// RelatedTasks draws classification tasks that have something in common: points
// of dim numbers in three classes, whose means differ in the first two numbers in
// every task and, more, in one that is the task's own. The other numbers are
// noise of a greater spread, 1/2. It returns points to learn from and to test with.
func RelatedTasks(seed uint64, tasks, train, test, dim int) (learn, check []Labelled) {
	normals := vec.NewNormals(vec.Key("related tasks", seed, 0))
	draw := make([]float32, dim)
	for j := range tasks {
		own := 2 + j%(dim-2)
		sample := func(n int) (l Labelled) {
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
					l.Points = append(l.Points, x/4)
				}
				l.Classes = append(l.Classes, class)
			}
			return l
		}
		learn, check = append(learn, sample(train)), append(check, sample(test))
	}
	return learn, check
}
