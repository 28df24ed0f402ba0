// Command windows prints the payments of docs/windows.md as CSV, or with -json as one JSON
// object a line: as many as -rows says, drawn with -seed.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/accrete-ml/accrete/internal/synth/payments"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the stream")
	rows := flag.Int("rows", 30_000, "payments")
	json := flag.Bool("json", false, "print JSON")
	flag.Parse()
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	if !*json {
		fmt.Fprintln(w, "at,card,merchant,amount,fraud")
	}
	format := "%s,c%04d,m%03d,%.2f,%v\n"
	if *json {
		format = `{"at":"%s","card":"c%04d","merchant":"m%03d","amount":%.2f,"fraud":%v}` + "\n"
	}
	for s := payments.New(*seed); *rows > 0; *rows-- {
		p := s.Next()
		fmt.Fprintf(w, format, time.Unix(int64(p.At), 0).UTC().Format(time.RFC3339), p.Card, p.Merchant, p.Amount, p.Fraud)
	}
}
