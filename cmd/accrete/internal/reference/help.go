// Package reference writes the help of the commands: on the terminal, and as the generated
// pages of the documentation.
package reference

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// PrintHelp prints the purpose of the command first and the usage last.
func PrintHelp(options kong.HelpOptions, ctx *kong.Context) error {
	node, examples := ctx.Model.Node, "accrete demo\naccrete lint -c config.yaml"
	if n := ctx.Selected(); n != nil {
		node, examples = n, examplesOf(n)
	}
	purpose := node.Help
	fmt.Fprintf(ctx.Stdout, "%s\n\n", purpose)
	node.Help = ""
	err := kong.DefaultHelpPrinter(options, ctx)
	node.Help = purpose
	if err != nil {
		return err
	}
	if node == ctx.Model.Node {
		fmt.Fprintf(ctx.Stdout, "\n%s\n", exit.Help)
	}
	title := "Example"
	if strings.Contains(strings.TrimSpace(examples), "\n") {
		title = "Examples"
	}
	fmt.Fprintf(ctx.Stdout, "\n%s:\n", title)
	for line := range strings.Lines(strings.TrimSpace(examples)) {
		fmt.Fprintf(ctx.Stdout, "  %s\n", strings.TrimSpace(line))
	}
	return nil
}

// examplesOf returns the examples of a command, a line each.
func examplesOf(n *kong.Node) string {
	return n.Target.Addr().Interface().(interface{ Examples() string }).Examples()
}
