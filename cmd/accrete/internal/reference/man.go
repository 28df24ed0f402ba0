package reference

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// WriteMan writes the manual page accrete(1), with a section for each command that --help
// shows. It has no date, so that it depends on the program alone.
func WriteMan(w io.Writer, app *kong.Application, version string) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH ACCRETE 1 \"\" \"accrete %s\" \"User Commands\"\n", roff(version))
	fmt.Fprintf(&b, ".SH NAME\naccrete \\- %s\n", roff(lowerFirst(strings.TrimSuffix(firstSentence(app.Help), "."))))
	b.WriteString(".SH SYNOPSIS\n.B accrete\n.I COMMAND\n[\\fIARGUMENT\\fR ...] [\\fB\\-\\-flag\\fR=\\fIVALUE\\fR ...]\n")
	b.WriteString(".SH DESCRIPTION\n" + roff(app.Help) + "\n.PP\nResults go to standard output, with \\fB\\-\\-json\\fR as one object per line; logs and progress go to standard error.\n")
	b.WriteString(".SH OPTIONS OF EVERY COMMAND\n")
	manFlags(&b, app.Flags)
	b.WriteString(".SH COMMANDS\n")
	for _, n := range app.Leaves(true) {
		fmt.Fprintf(&b, ".SS accrete %s\n%s\n", roff(n.Path()), roff(n.Help))
		for text := range strings.SplitSeq(n.Detail, "\n") {
			if text = strings.TrimSpace(text); text != "" {
				fmt.Fprintf(&b, ".PP\n%s\n", roff(text))
			}
		}
		fmt.Fprintf(&b, ".PP\n.nf\n.B %s\n.fi\n", roff(n.Summary()))
		for _, p := range n.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(p.Summary()), roff(p.Help))
		}
		manFlags(&b, n.Flags)
		b.WriteString(".PP\nExamples:\n.PP\n.nf\n.RS\n")
		for line := range strings.Lines(strings.TrimSpace(examplesOf(n))) {
			b.WriteString(roff(strings.TrimSpace(line)) + "\n")
		}
		b.WriteString(".RE\n.fi\n")
	}
	title, codes, _ := strings.Cut(exit.Help, "\n")
	fmt.Fprintf(&b, ".SH %s\n.nf\n", strings.ToUpper(roff(strings.TrimSuffix(title, ":"))))
	for line := range strings.Lines(codes) {
		b.WriteString(roff(strings.TrimRight(line, "\n")) + "\n")
	}
	b.WriteString(".fi\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func manFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		if !f.Hidden {
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(f.String()), roff(strings.Join(strings.Fields(f.Help), " ")))
		}
	}
}

// roff escapes text for a manual page, so that nothing in it is a request or an escape sequence.
func roff(s string) string {
	var b strings.Builder
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		b.WriteString(`\&`)
	}
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r > unicode.MaxASCII:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
