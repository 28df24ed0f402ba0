package quarantine

import "testing"

func TestReasonsOfOneFaultAreOneKind(t *testing.T) {
	for _, test := range [][]string{
		{`columns: "amount 7" is …, want a number`, `columns: "amount 7" is 12, want a number`, `columns: "amount 7" is -1.5e+300, want a number`},
		{`columns: "a" is text …, want a time, such as 2006-01-02T15:04:05Z`, `columns: "a" is text "no\"on, 12", want a time, such as 2006-01-02T15:04:05Z`, `columns: "a" is text "", want a time, such as 2006-01-02T15:04:05Z`},
		{`columns: unknown field "b"`, `columns: unknown field "b"`},
		{`columns: x[…] is null, want a number`, `columns: x[0] is null, want a number`, `columns: x[12] is null, want a number`},
		{`columns: x has … values, want 2`, `columns: x has 3 values, want 2`, `columns: x has 17 values, want 2`},
		{`json: "}" at byte …, want a value`, `json: "}" at byte 12, want a value`, `json: "}" at byte 3, want a value`},
		{`json: invalid number at byte …`, `json: invalid number at byte 12`},
		{`json: … bytes after the end`, `json: 4 bytes after the end`, `json: 17 bytes after the end`},
		{`limits: … bytes, the limit is …`, `limits: 20000000 bytes, the limit is 10485760`},
		{`limits: "a" is …, out of range ±1e+30`, `limits: "a" is 1e+31, out of range ±1e+30`},
		{`label: … would be class …, but max_classes is …`, `label: "x" would be class 257, but max_classes is 256`, `label: "y" would be class 257, but max_classes is 256`},
		{`label: it is the number …, but labels have been text or booleans so far`, `label: it is the number 17, but labels have been text or booleans so far`},
		{`weight: it is …: want more than 0, and at most 1000000`, `weight: it is -3: want more than 0, and at most 1000000`},
		{`csv: … cells, but the header has …`, `csv: 2 cells, but the header has 3`, `csv: 17 cells, but the header has 3`},
		{`csv: line …, byte …: extraneous or missing " in quoted-field`, `csv: line 3, byte 14: extraneous or missing " in quoted-field`},
		{`libsvm: … is not an index:value pair`, `libsvm: "3:" is not an index:value pair`, `libsvm: "x y" is not an index:value pair`},
		{`the record has no value`, `the record has no value`},
	} {
		for _, reason := range test[1:] {
			if got := Kind(reason); got != test[0] {
				t.Errorf("%s: %s, want %s", reason, got, test[0])
			}
		}
	}
}

// Permissions name it, so it may not change.
func TestTheTransactionalIDNamesTheTopic(t *testing.T) {
	if id := TransactionalID("fraud.quarantine"); id != "accrete-replay-fraud.quarantine" {
		t.Error(id)
	}
}
