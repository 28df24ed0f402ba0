// Package decode turns bytes into rows for a learner: JSON values of records,
// and CSV, LIBSVM and JSON-lines files.
//
// Decoding is a pure function of the bytes, the Config and the Schema, which the
// previous records have determined, so that a replay of the same records gives the
// same rows. Only valid records extend the schema. No bytes can make the package
// panic, or allocate much more than their own size.
//
// # JSON
//
// A record has one of three forms:
//
//	{"x":[0.5,1.2],"y":1}                            columns "0", "1", …
//	{"features":{"age":41,"amount":12.5},"label":"ok"}  columns by name
//	{"age":41,"amount":12.5,"is_fraud":true}         every field is a column; needs Config.Label
//
// The first two forms may also have a "key" (text or a number) and a "weight". A
// record with an absent or null label is predicted only. A text or boolean label
// is the name of a class. A number is a regression target, or the name of a class
// if the task is classification.
//
// # Columns
//
// The value of a column is a number, unless Config.Types or Config.Infer says otherwise:
// text is a category or a time, a boolean is 0 or 1, and null is a missing value (with
// Config.Missing). A type that is not declared is that of the first value; later values
// of another type are errors. A row has one float64 for each column: NaN if it is
// missing, 52 bits of the hash of a category (learner.Category), seconds since 1970 of a
// time.
//
// # Strictness
//
// Parsing is strict. Input that encoding/json would accept or change silently is an
// error here: a duplicate key, a key in another case, null or true for a number,
// bytes that are not UTF-8, half a surrogate pair, trailing bytes, a number out of
// the range of a float64.
package decode
