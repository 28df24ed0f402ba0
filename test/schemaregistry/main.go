// Command schemaregistry runs a registry for tests, in memory, and prints its address.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/twmb/franz-go/pkg/sr/srfake"
)

func main() {
	r := srfake.New()
	defer r.Close()
	fmt.Println(r.URL())
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	<-end
}
