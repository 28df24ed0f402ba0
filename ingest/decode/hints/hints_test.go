package hints

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// Texts have more than three words on average, differ, are at least 100, and are no dates.
func TestTexts(t *testing.T) {
	for _, test := range []struct {
		of    string
		rows  int
		value func(i int) string
		want  bool
	}{
		{"sentences", 100, func(i int) string { return fmt.Sprintf("train %d was late", i) }, true},
		{"too few sentences", 99, func(i int) string { return fmt.Sprintf("train %d was late", i) }, false},
		{"three words", 200, func(i int) string { return fmt.Sprintf("train %d late", i) }, false},
		{"one in four of more words", 200, func(i int) string {
			return fmt.Sprint("train ", i, []string{" late", " late", " late", " was late"}[i%4])
		}, true},
		{"half of them different", 200, func(i int) string { return fmt.Sprintf("train %d was late", i%100) }, false},
		{"more than half different", 200, func(i int) string { return fmt.Sprintf("train %d was late", i%101) }, true},
		{"dates", 200, func(i int) string { return fmt.Sprintf("01.02.%d at %d h", 1900+i, i%24) }, false},
		{"dates and a tenth of other texts", 200, func(i int) string {
			return fmt.Sprintf("%s %d at noon", []string{"01.02.2024", "on"}[min(1, i%10/9)], i)
		}, false},
		{"dates and a fifth of other texts", 200, func(i int) string {
			return fmt.Sprintf("%s %d at noon", []string{"01.02.2024", "on"}[min(1, i%5/4)], i)
		}, true},
	} {
		c := New()
		for i := range test.rows {
			c.Text([]byte("note"), []byte(test.value(i)))
		}
		if got := c.IsText("note"); got != test.want {
			t.Errorf("%s: %v", test.of, got)
		}
	}
	if c := (*Counter)(nil); c.IsText("note") || New().IsText("note") {
		t.Error("no values are texts")
	}
}

// Numbers with signs, units and separators are hinted at, and codes are not.
func TestNumbersThatAreWrittenOtherwise(t *testing.T) {
	for text, want := range map[string]bool{
		"$1,234.00": true, "12 %": true, "1,234 sqft": true, "12.5kg": true, "1'234": true, "(5)": true, "1 234,5": true, "3.25": true, "€ -5": true, "١٢": true, "-٠.٥": true, "१२": true,
		"12A": false, "1st": false, "22nd": false, "3rd": false, "4TH": false, "0170 1234": false, "12": false, "A12": false, "10.0.0.1": false, "11:38": false, "": false, "$": false, "kg": false, "12 kilometres": false, "2024-01-02": false,
	} {
		if got := isWritten([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	c := New()
	for i := range 200 {
		c.Text([]byte("price"), []byte(fmt.Sprintf("$%d.50", i)))
		c.Text([]byte("code"), []byte(fmt.Sprintf("A%d", i)))
		number := fmt.Sprintf("%d.25", i)
		if i%20 == 0 {
			number = "oops"
		}
		c.Text([]byte("amount"), []byte(number))
	}
	if got := c.Hint("amount", "category"); !strings.HasPrefix(got, "has numbers such as 199.25 beside values such as oops") {
		t.Error(got)
	}
	if got := c.Hint("price", "category"); !strings.HasPrefix(got, "has numbers such as $199.50, which are read as categories") {
		t.Error(got)
	}
	if got := c.Hint("code", "category"); got != "" {
		t.Error(got)
	}
}

// Dates with the name of a month or with AM or PM have a hint at their format.
func TestDatesInWordsAreHintedAt(t *testing.T) {
	for layout, want := range map[string]string{"02 Jan 2006": "time:%d %b %Y", "2006-01-02 03:04 PM": "time:%Y-%m-%d %I:%M %p", "02-Jan-06": "time:%d-%b-%y", "Jan 2006": ""} {
		c := New()
		for i := 0; c.NextRow(); i++ {
			c.Text([]byte("at"), time.Date(2024, 1, 1+i, i%24, 0, 0, 0, time.UTC).AppendFormat(nil, layout))
		}
		if got := c.Hint("at", "category"); (got == "") != (want == "") || !strings.HasSuffix(got, want) {
			t.Errorf("%s: the hint is %q, want %q", layout, got, want)
		}
	}
}
