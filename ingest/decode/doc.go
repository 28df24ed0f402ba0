// Package decode turns bytes into rows for a learner: JSON values of records,
// and CSV, LIBSVM and JSON-lines files.
//
// A decision on a record is a pure function of its bytes, the Config and the
// Schema that the records before it have settled, so that a replay of the same
// records decides the same again. The schema grows only by records that are
// good. No bytes can make the package panic, or allocate much more than their
// own size.
//
// # JSON
//
// A record has one of three forms:
//
//	{"x":[0.5,1.2],"y":1}                            columns "0", "1", …
//	{"features":{"age":41,"amount":12.5},"label":"ok"}  columns by name
//	{"age":41,"amount":12.5,"is_fraud":true}         every field is a column; needs Config.Label
//
// In the first two, a "key" (text or a number) and a "weight" may stand beside.
// A label that is absent or null means: predict only. Text or a boolean names a
// class. A number is a value to regress on, or if the task is classification,
// the name of a class.
//
// JSON is read to the letter. What encoding/json would let pass, or change
// without a word, is an error here: a key that comes twice, a key in other
// case, null or true for a number, bytes that are not UTF-8, half a surrogate
// pair, anything after the value, a number beyond a float64.
package decode
