package hints

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

func TestDatesThatAreNoTimes(t *testing.T) {
	for text, want := range map[string]bool{
		"01.02.2024": true, "1/2/24": true, "31-12-2024": true, "2024/02/01": true, "01.02.2024 10:30": true, "1.2.2024T10": true,
		"2024-02-01": false, "1.2": false, "192.168.1.10": false, "1.2.3": false, "12-34/2024": false, "": false, "..": false, "1//24": false, "a.b.2024": false, "555-12-1234": false,
	} {
		if got := otherDate([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestNamesOfCodes(t *testing.T) {
	for name, want := range map[string]bool{
		"id": true, "ID": true, "user_id": true, "user.id": true, "shopId": true, "deviceID": true, "USER_ID": true, "zip": true, "Zip Code": true, "zip_code": true, "countryCode": true, "postcode": true,
		"paid": false, "PAID": false, "humid": false, "schoolid": false, "idle": false, "barcode": false, "encoded": false, "größeid": false, "": false, "amount": false,
	} {
		if got := namesCode([]byte(name)); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// Whole numbers that repeat are hinted at if their column has the name of a code; measurements,
// few values, fractions and numbers that never repeat are not.
func TestCodesAreHintedAt(t *testing.T) {
	for _, test := range []struct {
		of, name, typ string
		value         func(i int) float64
		want          bool
	}{
		{"codes", "shop_id", "numeric", func(i int) float64 { return float64(i * 7919 % 50) }, true},
		{"codes that are declared", "shop_id", "numeric:normal", func(i int) float64 { return float64(i % 50) }, false},
		{"measurements", "age", "numeric", func(i int) float64 { return float64(i % 50) }, false},
		{"few values", "shop_id", "numeric", func(i int) float64 { return float64(i % fewCodes) }, false},
		{"fractions", "shop_id", "numeric", func(i int) float64 { return float64(i%50) / 2 }, false},
		{"numbers that never repeat", "shop_id", "numeric", func(i int) float64 { return float64(i) }, false},
	} {
		c := New()
		for i := 0; c.NextRow(); i++ {
			v := test.value(i)
			c.Number([]byte(test.name), v, fmt.Append(nil, v))
		}
		if got := strings.Contains(c.Hint(test.name, test.typ), learner.CategoryColumn.String()); got != test.want {
			t.Errorf("%s: the hint is %q", test.of, c.Hint(test.name, test.typ))
		}
	}
}
