package fit

import (
	"fmt"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/config"
)

// validateWindows checks --windows, and that no flag excludes it.
func (f *Command) validateWindows() error {
	windows, err := config.ParseWindows(f.Windows)
	if err != nil {
		return fmt.Errorf("--windows: %w", err)
	}
	if windows == nil {
		return nil
	}
	c := decode.Config{Windows: windows.Of()}
	switch {
	case c.NeedsRecordTime():
		return fmt.Errorf("--windows: rows of a file have no timestamps: add time=COLUMN to each window")
	case f.Refit:
		return fmt.Errorf("--refit reads rows again whose windows are gone: omit --refit or --windows")
	case f.Shuffle != nil:
		return fmt.Errorf("--windows are of the rows in the order of the file: omit --shuffle")
	}
	return nil
}

// validateAges checks --half-life and --time, and that no flag excludes them.
func (f *Command) validateAges() error {
	halfLife, err := config.ParseHalfLife(f.HalfLife)
	switch {
	case err != nil:
		return exit.Flag("half-life", err)
	case halfLife == 0 && f.Time != "":
		return fmt.Errorf("--time %s: it is for --half-life", f.Time)
	case halfLife > 0 && f.Time == "":
		return fmt.Errorf("--half-life: rows of a file have no timestamps: add --time COLUMN")
	case halfLife > 0 && f.Refit:
		return fmt.Errorf("--refit reads the rows again, without the ages that they had when they were learned: omit --refit or --half-life")
	case halfLife > 0 && f.Shuffle != nil:
		return fmt.Errorf("--half-life is for rows in the order in which they came: omit --shuffle")
	}
	return nil
}
