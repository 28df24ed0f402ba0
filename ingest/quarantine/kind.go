package quarantine

import "regexp"

// The parts of a reason that differ between records with the same fault: texts, numbers and
// positions, but not the names of columns, nor what was expected.
var (
	faultyText   = regexp.MustCompile(`(text |^label: |^libsvm: )"(?:[^"\\]|\\.)*"…?`)
	faultyNumber = regexp.MustCompile(`( is| at byte|^csv: line|^csv:|, byte| has| number|index|x\[|^limits:|^json:) ?-?[0-9][0-9a-zA-Z.+-]*…?`)
	faultyClass  = regexp.MustCompile(`would be class [0-9]+`)
)

// Kind returns a reason with "…" in place of the parts that differ between records.
func Kind(reason string) string {
	s := faultyText.ReplaceAllString(reason, "${1}…")
	s = faultyClass.ReplaceAllString(s, "would be class …")
	return faultyNumber.ReplaceAllStringFunc(s, func(m string) string {
		parts := faultyNumber.FindStringSubmatch(m)
		if parts[1] == "x[" {
			return "x[…"
		}
		return parts[1] + " …"
	})
}
