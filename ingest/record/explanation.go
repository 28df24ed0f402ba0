package record

import (
	"strconv"

	"github.com/accrete-ml/accrete/learner"
)

// AppendExplanation appends an explanation as a JSON object with the members base, score,
// parts (by column) and rest. For several scores, it appends a list of such objects. The
// member "of" names the class or target of a score, if of has the names. Two classes may
// share one score, that of the second class; of then has both names.
func AppendExplanation(b []byte, e learner.Explanation, columns, of []string) []byte {
	if e.Size == 1 {
		if len(of) == 2 {
			of = of[1:]
		}
		return appendScore(b, e, 0, columns, of)
	}
	b = append(b, '[')
	for s := range e.Size {
		if s > 0 {
			b = append(b, ',')
		}
		b = appendScore(b, e, s, columns, of)
	}
	return append(b, ']')
}

func appendScore(b []byte, e learner.Explanation, s int, columns, of []string) []byte {
	b = append(b, '{')
	if len(of) == e.Size {
		b = append(appendString(append(b, `"of":`...), of[s]), ',')
	}
	b = strconv.AppendFloat(append(b, `"base":`...), e.Base[s], 'g', -1, 64)
	b = strconv.AppendFloat(append(b, `,"score":`...), e.Scores[s], 'g', -1, 64)
	b = append(b, `,"parts":{`...)
	for j, name := range columns {
		if j > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = strconv.AppendFloat(b, e.Parts[j*e.Size+s], 'g', -1, 64)
	}
	b = strconv.AppendFloat(append(b, `},"rest":`...), e.Rest[s], 'g', -1, 64)
	return append(b, '}')
}
