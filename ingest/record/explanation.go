package record

import (
	"strconv"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// AppendExplanation appends an explanation as a JSON object with the members base, score,
// parts (by field) and rest. For several scores, it appends a list of such objects. The
// member "of" names the class or target of a score, if of has the names. Two classes may
// share one score, that of the second class; of then has both names.
func AppendExplanation(b []byte, e learner.Explanation, s *schema.Schema, of []string) []byte {
	fields, parts := s.Fields(), s.ByField(e.Parts, e.Size)
	if e.Size == 1 {
		if len(of) == 2 {
			of = of[1:]
		}
		return appendScore(b, e, 0, fields, parts, of)
	}
	b = append(b, '[')
	for k := range e.Size {
		if k > 0 {
			b = append(b, ',')
		}
		b = appendScore(b, e, k, fields, parts, of)
	}
	return append(b, ']')
}

func appendScore(b []byte, e learner.Explanation, k int, fields []schema.Field, parts []float64, of []string) []byte {
	b = append(b, '{')
	if len(of) == e.Size {
		b = append(appendString(append(b, `"of":`...), of[k]), ',')
	}
	b = strconv.AppendFloat(append(b, `"base":`...), e.Base[k], 'g', -1, 64)
	b = strconv.AppendFloat(append(b, `,"score":`...), e.Scores[k], 'g', -1, 64)
	b = append(b, `,"parts":{`...)
	for j, f := range fields {
		if j > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, f.Name), ':')
		b = strconv.AppendFloat(b, parts[j*e.Size+k], 'g', -1, 64)
	}
	b = strconv.AppendFloat(append(b, `},"rest":`...), e.Rest[k], 'g', -1, 64)
	return append(b, '}')
}
