package decode

// Raw is a row as its file has it.
type Raw struct {
	Cells []string // of a CSV file, without spaces around them
	Text  []byte   // the line of a file of another format
}

// Raw returns the current row, which Next returned or Skip advanced to.
func (f *File) Raw() Raw { return Raw{f.now.cells, f.now.text} }

// Format returns the name of the format of the file.
func (f *File) Format() string { return f.format }

// Header returns the names of the columns of a CSV file, nil for another one.
func (f *File) Header() []string {
	if c, ok := f.rows.(*csvRows); ok {
		return c.header
	}
	return nil
}
