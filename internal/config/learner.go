package config

// Learner configures the model and its algorithm.
type Learner struct {
	// Kind of model. auto: string and boolean labels are classes, numbers are
	// regressed on. novelty: every record is learned without a label, and flagged if it
	// is unlike the others; needs no input.label.
	Task string `key:"task" default:"auto" oneof:"auto classification regression novelty"`

	// Share of the records that task novelty flags.
	Nu float64 `key:"nu" default:"0.05" min:"0.001" max:"0.5"`

	// Options of a paper, for all of these that are not set themselves: algorithm,
	// direction, step, block_size, minibatch, max_features and lambda. Another algorithm
	// than that of the preset is refused. See papers.md.
	Preset string `key:"preset" default:"none" oneof:"presets"`

	// Learning algorithm, see algorithms.md.
	Algorithm string `key:"algorithm" default:"newton" oneof:"algorithms"`

	// Direction of the steps of dsg, udsg, cdsg and all. rate: the gradient, with a
	// step size that needs no tuning. adagrad: the gradient, with a step size for each
	// coefficient. precond: the gradient, preconditioned with the covariance of a
	// block, for mini-batches of 256 and more. auto: precond for dsg, udsg and cdsg
	// unless minibatch is less than that, otherwise rate.
	Direction string `key:"direction" default:"auto" oneof:"directions"`

	// Size of the steps of dsg, udsg, cdsg and all, and what they are taken in. The
	// defaults are for most streams.
	Step Step `key:"step"`

	// Loss to minimise. auto: logistic or softmax for classes, square for numbers.
	// Others for classes: hinge, squared-hinge, smoothed-hinge, one-vs-rest. Others
	// for numbers: huber:1 and absolute:0.1, with parameters in standard deviations of
	// the label, poisson, quantile:0.9, and several quantiles that do not cross:
	// quantile:0.1,0.5,0.9.
	Loss string `key:"loss" default:"auto"`

	// Kernel: auto for the one that suits the first 1,000 rows, gaussian, laplacian,
	// cauchy, matern:NU, rational-quadratic:ALPHA,
	// hierarchical:WIDTH, sums and products of these such as gaussian+laplacian;
	// arc-cosine:ORDER, polynomial:DEGREE, dot-product:RATIO; for inputs of 0 or more
	// chi2, intersection, jensen-shannon, hellinger, exponential-semigroup or
	// reciprocal-semigroup; for inputs above -C skewed-chi2:C or
	// skewed-intersection:C; see docs/algorithms.md. The warm-up chooses its scale,
	// unless one is given as the last parameter: gaussian:2.5, matern:1.5,2.5.
	Kernel string `key:"kernel" default:"gaussian"`

	// File written by accrete metric: the kernel uses the learned metric and its
	// column scales instead of those of the warm-up. Also written as
	// kernel: {metric: metric.json}. Records are matched to the metric of their key
	// (input.key or the record's key), others use the shared metric. Not with
	// input.lags.
	KernelMetric string `key:"kernel.metric" example:"metric.json"`

	// Sampling of the frequencies. iid: independent. sorf: structured orthogonal,
	// for 64 inputs or more; from 100 inputs on it needs less time and memory.
	// fastfood: the same, nearly independent. orthogonal: for kernels of the
	// Euclidean distance. qmc: evenly spread, for few inputs and kernels with
	// independent frequencies. leverage: those that matter on the first rows more
	// often, for few features. See docs/algorithms.md.
	Sampling string `key:"sampling" default:"iid" oneof:"samplings"`

	// Maximum number of random features. A feature is one frequency with a cosine
	// and a sine coefficient per target or class.
	MaxFeatures int `key:"max_features" default:"4096" min:"32" max:"1048576"`

	// Memory that the random features of dsg, udsg and cdsg may take in the learner,
	// which then grow without regard to max_features, as in the papers: 512MB. What
	// happens at the limit is step.at_cap. 0B: max_features is the limit.
	Memory Size `key:"memory" default:"0B" example:"512MB"`

	// Number of random features in a block. 0: the default of the algorithm.
	BlockSize int `key:"block_size" default:"0" example:"64" min:"0" max:"65536"`

	// Number of labelled examples per step. 0: the default of the algorithm: 32 for
	// newton and ridge, 1,024 for direction precond, and 128 otherwise.
	Minibatch int `key:"minibatch" default:"0" min:"0" max:"65536"`

	// Regularisation: weight of half the squared norm beside the mean loss. 0: for dsg,
	// udsg and cdsg the warm-up chooses it by leave-one-out, for others 1e-6. newton
	// and ridge always use that of the warm-up.
	Lambda float64 `key:"lambda" default:"0" example:"1e-6" min:"0" max:"1"`

	// Reaction when ADWIN or Page-Hinkley detects that the loss has grown. none:
	// count it in accrete_drifts_total. boost: reset the step size. forget: boost,
	// and reduce the weight of what was learned. reset: start again. newton, which
	// forgets through its window, starts again for boost, forget and reset alike.
	OnDrift string `key:"on_drift" default:"none" oneof:"reactions"`

	// Mixture with simple members. on: predictions are those of the algorithm mixed with
	// linear models that forget, smaller machines that follow changes and predictions from
	// the last labels, by weights that follow their losses row by row; scorers mix the
	// members that need no labels. auto: on for newton with the losses logistic, softmax and
	// square and an effort of 32 or more, or with input.sparse; an existing model keeps what
	// it was created with. See docs/mixture.md.
	Mixture string `key:"mixture" default:"auto" oneof:"auto on off"`

	// Class that is predicted. none: the most probable. f1: the rarer of two from the
	// probability on that maximises its F1 over the recent predictions. {fraud: 50}, or
	// {fraud: {ok: 50}}: the one with the least expected cost, where a wrong prediction
	// costs 1 or as much as given for the true class, or for it and the predicted one. See
	// docs/imbalance.md.
	Costs Costs `key:"costs" default:"none"`

	// Class-balanced sampling: of the frequent classes only a part of the examples is learned,
	// each of which counts for as many as it stands for, so that probabilities remain those of the
	// whole stream. All of them are predicted and graded. none: every example is learned.
	// balanced: as many of each class as of the rarest, but at least one in 100. {fraud: 1, ok: 3}:
	// in these proportions; classes that are not named are not thinned. See docs/imbalance.md.
	Balance Balance `key:"balance" default:"none"`

	// Half-life of the weight of an example by its age, which is the event time of the stream
	// minus that of the example (input.time, or that of the features with late labels) when it is
	// learned: late and backfilled records count less. A number with a unit, such as 12h or 30d;
	// 0s: age does not matter. See docs/age.md.
	HalfLife string `key:"half_life" default:"0s" example:"30d"`

	// Share of the labels of a regression that the interval of their prediction
	// contains, from 0.5 to 0.999, see docs/predictions.md. 0: no intervals.
	Intervals float64 `key:"intervals" default:"0" example:"0.9" min:"0" max:"0.999"`

	// Variance of the label around each prediction of a regression. on: predictions have
	// it, and intervals are wider where little has been learned, see docs/predictions.md.
	Variance string `key:"variance" default:"off" oneof:"off on"`

	// Number of records whose inputs the monitor compares at a time with those of the
	// reference, which are four times as many; at least 250. Changes are logged with the
	// columns that moved, and counted in accrete_input_changes_total; see docs/novelty.md.
	// 0: no monitor.
	Monitor int `key:"monitor" default:"500" min:"0" max:"100000"`

	// Out-of-fold statistics: the categories of each of this many parts of the first 1,000
	// rows, 2 to 100, are encoded with the statistics of the other parts instead of those of
	// the rows before, see docs/columns.md. 0: they are not.
	Folds int `key:"folds" default:"0" example:"5" min:"0" max:"100"`

	// Numbers as normal scores, of the quantiles of the first rows. auto: those of more than
	// 33 values, if the warm-up finds a smaller leave-one-out error so, which helps with
	// long tails; an existing model keeps what it was created with. off: only columns of
	// type numeric:normal. See docs/columns.md.
	NormalScores string `key:"normal_scores" default:"auto" oneof:"auto off"`

	// Number of extremely randomised trees whose leaves newton uses as additional features,
	// for tables with jumps or irrelevant columns, at most 4096; 0: none. auto: 100 trees on
	// trial in a model with a mixture, an effort of 64 or more, at most ten classes and no
	// refits, discarded within 8,000 rows unless they reduce the loss. An existing
	// model keeps what it was created with. See docs/forest.md.
	Forest string `key:"forest" default:"auto" example:"200"`

	// Time that newton takes for an example: the number of rows of the window that steps
	// visit for each, from 1 to 1024. 8 is several times as fast as 256 and less accurate;
	// there are at most 64 random features for each row visit. auto: 256, or 128 if the first
	// rows show that labels are mostly noise. default: auto, or 4 with input.sparse. See
	// docs/effort.md.
	Effort string `key:"effort" default:"default" example:"32"`

	// Seed of all random numbers.
	Seed uint64 `key:"seed" default:"1" min:"1"`

	// Maximum time for one mini-batch. A learner that exceeds it is considered hung:
	// the process exits with code 75, and the next one takes over.
	Watchdog Duration `key:"watchdog" default:"2m" min:"1s"`
}

// Step configures the steps of stochastic descent.
type Step struct {
	// Size of the first step; with direction precond a part of the Newton step. 0: one
	// that needs no tuning, with precond 0.5.
	Size float64 `key:"size" default:"0" example:"0.25" min:"0" max:"1e12"`

	// Decay of the step size, which tends to theta/t after t steps. 0: 1/lambda, and
	// with precond a constant step size.
	Theta float64 `key:"theta" default:"0" example:"100" min:"0" max:"1e12"`

	// Number of steps in new blocks that udsg takes before those in existing ones.
	// 0 for both: 1.
	New int `key:"new" default:"0" example:"2" min:"0" max:"1048576"`

	// Number of steps in existing blocks that udsg takes in turn with those.
	Old int `key:"old" default:"0" example:"2" min:"0" max:"1048576"`

	// Largest step size of cdsg in an existing block, relative to a new one. 0: 2.
	Longest float64 `key:"longest" default:"0" example:"1.5" min:"0" max:"100"`

	// What dsg, udsg, cdsg and all serve. none: the iterate. polynomial: its average,
	// recent steps count more. uniform: its mean. auto: the iterate or the polynomial
	// average, whichever had the lower recent loss.
	Averaging string `key:"averaging" default:"auto" oneof:"averages"`

	// What dsg, udsg and cdsg do when the model has max_features. revisit: steps in
	// existing blocks. all: steps in all blocks at once. stop: nothing, so that the
	// model remains as it is. auto: all for dsg with direction rate or adagrad,
	// otherwise revisit.
	AtCap string `key:"at_cap" default:"auto" oneof:"caps"`
}
