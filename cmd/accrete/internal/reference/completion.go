package reference

import (
	"embed"
	"io"
)

//go:embed completion
var scripts embed.FS

// WriteCompletion writes the completion script of a shell: bash, zsh or fish. It asks
// accrete complete for the candidates.
func WriteCompletion(w io.Writer, shell string) error {
	script, err := scripts.ReadFile("completion/accrete." + shell)
	if err != nil {
		return err
	}
	_, err = w.Write(script)
	return err
}
