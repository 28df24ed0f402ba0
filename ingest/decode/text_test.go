package decode

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/ngram"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
	"github.com/cespare/xxhash/v2"
)

// A text is the same columns in a record, in a list of fields, in a CSV file, and after a
// restart; a missing one is missing in all of them.
func TestTextIsItsNgrams(t *testing.T) {
	c := Config{Label: "y", Infer: true, Missing: "impute", Types: map[string]string{"note": "text"}}
	d := mustNew(t, c, Schema{})
	row, err := d.Decode([]byte(`{"a":1,"note":"Late again: the TRAIN was late","zone":"b","y":"ok"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(row.X) != schema.TextBuckets+2 || len(d.Schema().Columns) != len(row.X) {
		t.Fatalf("%d values", len(row.X))
	}
	x := slices.Clone(row.X)
	sum := 0.0
	for _, v := range x[1 : 1+schema.TextBuckets] {
		sum += v * v
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the squares add up to %v", sum)
	}
	file, err := Read(strings.NewReader("zone,note,a,y\nb,\"late again: the train was late\",1,ok\nb,NA,1,ok\n"), "f.csv", c, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	if row, err = file.Next(); err != nil || !slices.Equal(row.X, x) {
		t.Errorf("from a file: %v, %v", row.X, err)
	}
	if row, err = file.Next(); err != nil || !math.IsNaN(row.X[1]) || !math.IsNaN(row.X[schema.TextBuckets]) {
		t.Errorf("missing in a file: %v, %v", row.X, err)
	}
	again := mustNew(t, c, *d.Schema())
	for _, test := range []struct {
		record string
		same   bool
	}{
		{`{"zone":"b","y":"ok","note":"late, AGAIN; the train was late","a":1}`, true},
		{`{"zone":"b","y":"ok","note":"again late the train was late","a":1}`, false},
	} {
		if row, err = again.Decode([]byte(test.record)); err != nil || slices.Equal(row.X, x) != test.same {
			t.Errorf("%s: %v", test.record, err)
		}
	}
	for _, record := range []string{`{"a":1,"zone":"b","y":"ok"}`, `{"a":1,"note":null,"zone":"b","y":"ok"}`} {
		if row, err = again.Decode([]byte(record)); err != nil || !math.IsNaN(row.X[1]) || row.X[0] != 1 {
			t.Errorf("%s: %v, %v", record, row.X, err)
		}
	}
	for record, want := range map[string]string{
		`{"a":1,"note":7,"zone":"b","y":"ok"}`:               `columns: "note" is 7, want text`,
		`{"a":1,"note:00":0.5,"zone":"b","y":"ok"}`:          `columns: unknown field "note:00"`,
		`{"a":1,"note":"a","note":"b","zone":"b","y":"ok"}`:  `json: duplicate field "note"`,
		`{"note:00":1,"a":1,"note":"b","zone":"b","y":"ok"}`: `columns: unknown field "note:00"`,
		`{"a":1,"note":{"en":"late"},"zone":"b","y":"ok"}`:   `columns: "note" is an object, want text`,
	} {
		if _, err := again.Decode([]byte(record)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", record, err, want)
		}
	}
	want := []schema.Field{{Name: "a", Type: "numeric", Columns: 1}, {Name: "note", Type: "text", At: 1, Columns: schema.TextBuckets}, {Name: "zone", Type: "category", At: 1 + schema.TextBuckets, Columns: 1}}
	if got := again.Schema().Fields(); !slices.Equal(got, want) {
		t.Errorf("fields %v, want %v", got, want)
	}
}

// In a new model the columns of the shares are followed by those of the keys, of which there are as many
// as different n-grams; a missing text has missing keys.
func TestTextHasTheKeysOfItsNgrams(t *testing.T) {
	c := Config{Label: "y", Infer: true, Missing: "impute", Grams: true, Types: map[string]string{"note": "text"}}
	d := mustNew(t, c, Schema{})
	row, err := d.Decode([]byte(`{"a":1,"note":"No, NO no way","zone":"b","y":"ok"}`))
	const n = schema.TextBuckets + 3*learner.TextKeys
	if err != nil || len(row.X) != n+2 {
		t.Fatalf("%d values, %v", len(row.X), err)
	}
	kinds := slices.Collect(slices.Chunk(slices.Clone(row.X[1+schema.TextBuckets:1+n]), learner.TextKeys))
	for i, want := range []int{2, 5, 2} { // no no, no way; _no no_ _wa way ay_; no, way
		given := slices.IndexFunc(kinds[i], func(v float64) bool { return v == 0 })
		if given != want || slices.ContainsFunc(kinds[i][given:], func(v float64) bool { return v != 0 }) {
			t.Errorf("%d keys of kind %d, want %d: %v", given, i, want, kinds[i][:9])
		}
	}
	if row, err = d.Decode([]byte(`{"a":1,"note":"way","zone":"b","y":"ok"}`)); err != nil || row.X[1+n-learner.TextKeys] != kinds[2][1] {
		t.Errorf("the key of a word is %v in another text, want %v; %v", row.X[1+n-learner.TextKeys], kinds[2][1], err)
	}
	for words := 70; words > 0; words-- { // each text with fewer n-grams than the one before it
		text := ""
		for i := range words {
			text += fmt.Sprintf("%02d ", i)
		}
		row, err = d.Decode(fmt.Appendf(nil, `{"a":1,"note":%q,"zone":"b","y":"ok"}`, text))
		if err != nil {
			t.Fatal(err)
		}
		for kind, want := range []int{words - 1, 2 * words, words} {
			keys := row.X[1+schema.TextBuckets+kind*learner.TextKeys:][:learner.TextKeys]
			if got := learner.TextKeys - len(slices.DeleteFunc(slices.Clone(keys), func(v float64) bool { return v > 0 })); got != min(learner.TextKeys, want) {
				t.Errorf("%d words: %d keys of kind %d, want %d", words, got, kind, min(learner.TextKeys, want))
			}
		}
	}
	for _, record := range []string{`{"a":1,"zone":"b","y":"ok"}`, `{"a":1,"note":null,"zone":"b","y":"ok"}`} {
		if row, err = d.Decode([]byte(record)); err != nil || !math.IsNaN(row.X[1]) || !math.IsNaN(row.X[n]) || row.X[0] != 1 {
			t.Errorf("%s: %v", record, err)
		}
	}
	if fields := d.Schema().Fields(); len(fields) != 3 || fields[1].Columns != n || fields[1].Name != "note" || fields[2].At != 1+n {
		t.Errorf("fields %v", fields)
	}
	again := mustNew(t, c, *d.Schema())
	if row, err = again.Decode([]byte(`{"a":1,"note":"No, NO no way","zone":"b","y":"ok"}`)); err != nil || !slices.Equal(row.X[1+n-learner.TextKeys:1+n], kinds[2]) {
		t.Errorf("after a restart: %v", err)
	}
}

// A record is refused if the name of a field sorts between the names of the columns of a text, because the
// field would overwrite one of these columns.
func TestTextIsNotInterrupted(t *testing.T) {
	for _, grams := range []bool{false, true} {
		for _, name := range []string{"note:05x", "note:a"} {
			c := Config{Label: "y", Infer: true, Missing: "impute", Grams: grams, Types: map[string]string{"note": "text"}}
			d := mustNew(t, c, Schema{})
			_, err := d.Decode([]byte(`{"note":"late","` + name + `":1,"y":"ok"}`))
			if between := grams || name == "note:05x"; (err != nil) != between || between && !strings.Contains(err.Error(), `between those of the columns of the text "note"`) {
				t.Errorf("%s, grams %v: %v", name, grams, err)
			}
		}
	}
	for _, name := range []string{"note:64", "note:p00", "note:+5", "note:"} { // beside the columns of a text without keys
		c := Config{Label: "y", Infer: true, Missing: "impute", Types: map[string]string{"note": "text"}}
		d := mustNew(t, c, Schema{})
		if row, err := d.Decode([]byte(`{"note":"late","` + name + `":1,"y":"ok"}`)); err != nil || len(row.X) != schema.TextBuckets+1 {
			t.Errorf("%s: %d values, %v", name, len(row.X), err)
		}
	}
	d := mustNew(t, Config{Label: "y", Infer: true, Types: map[string]string{"note": "text"}}, Schema{})
	if _, err := d.Decode([]byte(`{"note":"late","y":"ok"}`)); err != nil {
		t.Fatal(err)
	}
	cut := *d.Schema()
	cut.Columns, cut.Types = cut.Columns[:schema.TextBuckets-1], cut.Types[:schema.TextBuckets-1]
	if _, err := New(Config{Label: "y", Infer: true}, cut); err == nil {
		t.Error("a schema without the last column of a text")
	}
}

// The longest words of a text have keys, and of those of the same length the first ones.
func TestLongestWordsHaveKeys(t *testing.T) {
	text := []byte("aa bb cccc a ddd aa eee ffff ddd cccc gggg")
	var k, of ngram.Keys
	for most, want := range map[int]string{1: "cccc", 2: "cccc ffff", 3: "cccc ffff gggg", 4: "cccc ddd ffff gggg", 5: "cccc ddd eee ffff gggg", 9: "aa bb cccc a ddd eee ffff gggg"} {
		k.Set(text, most)
		of.Set([]byte(want), 99)
		if !slices.Equal(k.Words, of.Words) {
			t.Errorf("%d words: %x, want those of %s", most, k.Words, want)
		}
	}
	if k.Set([]byte(" ,;\n"), 9); len(k.Words)+len(k.Pairs) > 1 { // one word: n
		t.Errorf("a text without words: %v", k)
	}
	if allocated := testing.AllocsPerRun(10, func() { k.Set(text, 9) }); allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}

// The buckets of n-grams are part of what a model has learned.
func TestNgramsAreAFormat(t *testing.T) {
	x := make([]float64, 8)
	ngram.Hash(x, []byte("A b, ab"))
	want := []float64{-1, 1, 0, 0, 2, 0, -1, -2} // of length √11
	for i, v := range want {
		if math.Abs(x[i]*math.Sqrt(11)-v) > 1e-14 {
			t.Fatalf("%v, want %v", x, want)
		}
	}
	if ngram.Hash(x, []byte(" ,;\n")); slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) {
		t.Errorf("a text without words: %v", x)
	}
}

// So are the keys: those of pairs; of _ba, ban, ana, nan, na_, three of _zÀ_, and _z_; and of words.
func TestKeysOfNgramsAreAFormat(t *testing.T) {
	var k ngram.Keys
	k.Set([]byte("BANANA, zÀ Z"), 99)
	want := ngram.Keys{
		Pairs:  []uint64{0xc7b9b188de346409, 0x1d9e4d06a7305ce1},
		Threes: []uint64{0x3dff4b22ee02ee1d, 0xfa003a97ae673265, 0xcd00cd64bcd51813, 0x4ebda9b881cfab31, 0xa67902ee9246fefd, 0x12d7a4b79bd4be97, 0xcdfcdb870f4ac40, 0xa57c6a67103e37b1, 0x646f9057b16f0404},
		Words:  []uint64{0xe296528cac7f6d98, 0x14f84ccc02562526, 0x99744c0539ed64ca},
	}
	if !slices.Equal(k.Pairs, want.Pairs) || !slices.Equal(k.Threes, want.Threes) || !slices.Equal(k.Words, want.Words) {
		t.Errorf("pairs %#x, threes %#x, words %#x", k.Pairs, k.Threes, k.Words)
	}
}

// The key of a record is a column where a time since the last record of the key is
// declared, whether it is a field or comes with the record.
func TestKeyIsAColumn(t *testing.T) {
	c := Config{Label: "y", Infer: true, Missing: "impute", Types: map[string]string{"at": "time:since"}, Key: "card"}
	d := mustNew(t, c, Schema{})
	for range 2 {
		row, err := d.Decode([]byte(`{"at":"2024-01-01","b":1,"card":"c7","y":"ok"}`))
		if err != nil || len(row.X) != 3 || row.X[1] != learner.Category(xxhash.Sum64([]byte("c7"))) || row.Types[1] != learner.RecordKeyColumn {
			t.Fatalf("%v, %v", row, err)
		}
		row, err = d.Decode([]byte(`{"at":"2024-01-01","b":1,"y":"ok"}`))
		if err != nil || !math.IsNaN(row.X[1]) {
			t.Fatalf("%v, %v", row, err)
		}
		row.Key = []byte("c7")
		if d.SetKey(&row); row.X[1] != learner.Category(xxhash.Sum64([]byte("c7"))) {
			t.Errorf("the key of the record: %v", row.X)
		}
		d = mustNew(t, c, *d.Schema())
	}
	c.Types["b"] = "time:since"
	if _, err := New(c, Schema{}); err == nil || !strings.Contains(err.Error(), "want at most one") {
		t.Errorf("two columns with the time since the last record: %v", err)
	}
}

// A declared column that a file does not have, and a type that does not exist, are errors
// that name what there is.
func TestDeclaredColumnsAreInTheHeader(t *testing.T) {
	for _, test := range []struct {
		c    Config
		want string
	}{
		{Config{Columns: []string{"amont"}}, `input.columns: there is no column "amont" (did you mean "amount"?); the columns are amount, zone, y`},
		{Config{Types: map[string]string{"amont": "numeric"}}, `there is no column "amont"`},
		{Config{Types: map[string]string{"row": schema.ID}}, `there is no column "row"`},
		{Config{Columns: []string{"amount:number"}}, `input.columns: "amount": "number" is not the type of a column: want numeric, category, boolean, time, text, numeric:normal, time:trend, time:since, `},
		{Config{Columns: []string{"amount:number"}}, `category:decay=10000, pair, id or ignored; did you mean numeric?`},
		{Config{Columns: []string{"zone:category:decay=0"}}, `input.columns: "zone": "category:decay=0" is not the type of a column: want a half-life of 1 to 10000000 rows, such as category:decay=10000`},
		{Config{Types: map[string]string{"zone": "category:decay=10000", "amount": "category:decay=5"}}, ``},
		{Config{Columns: []string{"amount:numeric:nomal", "zone"}}, `did you mean numeric:normal?`},
		{Config{Types: map[string]string{"row": schema.ID}, NoLabel: true}, ``},
		{Config{Columns: []string{"amount"}, Unknown: "ignore"}, ``},
	} {
		_, err := Read(strings.NewReader("amount,zone,y\n1,b,2\n"), "f.csv", test.c, Schema{})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.c, err, test.want)
		}
	}
	c := Config{Types: map[string]string{"row": schema.ID, "zone": "category"}, Missing: "impute"}
	if _, err := Read(strings.NewReader("amount,y\n1,2\n"), "test.csv", c, Schema{Columns: []string{"amount", "zone"}, Types: []string{"numeric", "category"}}); err != nil {
		t.Errorf("a later file: %v", err)
	}
	c = Config{Unknown: "ignore", Missing: "impute"}
	if _, err := Read(strings.NewReader("foo,bar,y\n1,2,3\n"), "test.csv", c, Schema{Columns: []string{"amount", "zone"}}); err == nil || !strings.Contains(err.Error(), "no column of the model: its columns are foo, bar, y, and those of the model are amount, zone") {
		t.Errorf("a file without a column of the model: %v", err)
	}
}

// A CSV column of sentences that seldom repeat is a text, as if it were declared, also where the inputs
// are named; and a Decoder that continues with the schema reads it as one without a declaration. Dates,
// values that repeat, and columns of models without keys of n-grams are categories.
func TestTextsOfAFileAreInferred(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("note,kind,at,declared,name,y\n")
	for i := range 300 {
		fmt.Fprintf(&csv, "the train number %d was late,one of %d kinds,Mon Jan %d 2024 noon,the bus number %d,train %d,%d\n", i, i%5, 1+i%28, i, i, i%2)
	}
	for _, test := range []struct {
		c     Config
		texts []string
	}{
		{Config{Infer: true, Grams: true}, []string{"note"}},
		{Config{Infer: true, Grams: true, Columns: []string{"note", "name"}, Unknown: "ignore"}, []string{"note"}},
		{Config{Infer: true, Grams: true, Types: map[string]string{"name": "text"}}, []string{"name", "note"}},
		{Config{Infer: true}, nil},
	} {
		test.c.Missing = "impute"
		if test.c.Columns == nil {
			if test.c.Types == nil {
				test.c.Types = map[string]string{}
			}
			test.c.Types["declared"] = "category"
		}
		types := maps.Clone(test.c.Types)
		file, err := Read(strings.NewReader(csv.String()), "f.csv", test.c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(test.c.Types, types) {
			t.Errorf("the caller's types have become %v", test.c.Types)
		}
		first, err := file.Next()
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, f := range file.Schema().Fields() {
			if f.Type == "text" {
				texts = append(texts, f.Name)
			}
		}
		if !slices.Equal(texts, test.texts) {
			t.Errorf("%+v: texts %v, want %v", test.c, texts, test.texts)
		}
		x := slices.Clone(first.X)
		d := mustNew(t, Config{Label: "y", Infer: true, Missing: "impute", Unknown: "ignore"}, *file.Schema())
		row, err := d.Decode([]byte(`{"note":"the train number 0 was late","kind":"one of 0 kinds","at":"Mon Jan 1 2024 noon","declared":"the bus number 0","name":"train 0","y":"0"}`))
		if err != nil || !slices.Equal(row.X, x) {
			t.Errorf("%+v: a record is not read as the same row of the file; %v", test.c, err)
		}
	}
}

// A column of sentences is not split into the columns of a text where that would change or break what is
// configured: pairs and windows need its values, and a name or a number of columns may be taken. Missing
// values do not count.
func TestTextsAreInferredOnlyWhereTheyFit(t *testing.T) {
	csv := func(names string) string {
		var b strings.Builder
		b.WriteString(names + ",y\n")
		for i := range 200 {
			fmt.Fprintf(&b, "train %d was late,2024-01-%02d,%d,%d\n", i, 1+i%28, i%5, i%2)
			fmt.Fprintf(&b, "NA,2024-01-%02d,%d,%d\n", 1+i%28, i%5, i%2)
		}
		return b.String()
	}
	known := Schema{Columns: []string{"at", "n", "note"}, Types: []string{"time", "numeric", "category"}, Task: "regression"}
	file, err := Read(strings.NewReader(csv("note,at,n")), "test.csv", Config{Infer: true, Grams: true, Missing: "impute", Columns: known.Columns}, known)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Next(); err != nil || len(file.Schema().Columns) != 3 {
		t.Errorf("a model with a category: %v, %v", file.Schema().Columns, err)
	}
	for _, test := range []struct {
		header string
		c      Config
		want   string
	}{
		{"note,at,n", Config{}, "text"},
		{"note,at,n", Config{Types: map[string]string{"note*n": "pair"}}, "category"},
		{"note,at,n", Config{Types: map[string]string{"at*n": "pair"}}, "text"},
		{"note,at,n", Config{Windows: []Window{{Key: "note", Of: "n", Time: "at", Over: []string{"1h"}}}}, "category"},
		{"note,at,n", Config{Windows: []Window{{Key: "n", Distinct: "note", Time: "at", Over: []string{"1h"}}}}, "category"},
		{"note,at,n", Config{Windows: []Window{{Key: "n", Time: "at", Over: []string{"1h"}}}}, "text"},
		{"note,at,note:id", Config{}, "category"},
		{"note,at,notes:id", Config{}, "text"},
		{"note,at,n", Config{MaxColumns: 200}, "category"},
		{"note,at,n", Config{MaxColumns: 300}, "text"},
	} {
		test.c.Infer, test.c.Grams, test.c.Missing = true, true, "impute"
		file, err := Read(strings.NewReader(csv(test.header)), "f.csv", test.c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.Next()
		fields := file.Schema().Fields()
		if i := slices.IndexFunc(fields, func(f schema.Field) bool { return f.Name == "note" }); err != nil || i < 0 || fields[i].Type != test.want {
			t.Errorf("%s, %+v: fields %v, %v, want note as %s", test.header, test.c, fields, err, test.want)
		}
	}
}

// A field that a model has learned as a text cannot be declared as something else, by which no record
// would be valid.
func TestATextStaysOne(t *testing.T) {
	d := mustNew(t, Config{Label: "y", Infer: true, Grams: true, Types: map[string]string{"note": "text"}}, Schema{})
	if _, err := d.Decode([]byte(`{"note":"late","y":1}`)); err != nil {
		t.Fatal(err)
	}
	for typ, want := range map[string]string{
		"text":     "",
		"":         "",
		"category": `input.columns: "note" is declared as category, and the model has learned it as text`,
		"numeric":  `input.columns: "note" is declared as numeric, and the model has learned it as text`,
	} {
		c := Config{Label: "y", Infer: true, Grams: true, Types: map[string]string{"note": typ}}
		if typ == "" {
			c.Types = nil
		}
		if _, err := New(c, *d.Schema()); err == nil != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %s", typ, err, want)
		}
	}
}

// Of many columns of sentences, only the first are inferred to be texts.
func TestFewTextsAreInferred(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("y")
	for j := range mostInferred + 4 {
		fmt.Fprintf(&csv, ",note%02d", j)
	}
	for i := range 120 {
		fmt.Fprintf(&csv, "\n%d", i%2)
		for range mostInferred + 4 {
			fmt.Fprintf(&csv, ",the train number %d was late", i)
		}
	}
	file, err := Read(strings.NewReader(csv.String()), "f.csv", Config{Infer: true, Grams: true, Missing: "impute"}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Next(); err != nil {
		t.Fatal(err)
	}
	for i, f := range file.Schema().Fields() {
		if is := f.Type == "text"; is != (i < mostInferred) {
			t.Errorf("%s is inferred as %s", f.Name, f.Type)
		}
	}
}
