package constants

import (
	"go/scanner"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Scaled returns the expression of c with every number multiplied by factor. A number from 0.9 to
// 1.5 with a decimal point is a rate of decay or a margin: its distance from 1 is multiplied
// instead. Whole numbers remain whole and at least 1.
func (c Constant) Scaled(factor float64) string {
	var out strings.Builder
	var s scanner.Scanner
	set := token.NewFileSet()
	text := []byte(c.Value)
	file := set.AddFile("", set.Base(), len(text))
	s.Init(file, text, nil, 0)
	copied, length := 0, false
	for {
		p, t, lit := s.Scan()
		if t == token.EOF {
			out.Write(text[copied:])
			return out.String()
		}
		if t == token.LBRACK || t == token.RBRACK {
			length = t == token.LBRACK
		}
		if t != token.INT && t != token.FLOAT || length {
			continue
		}
		at := file.Offset(p)
		out.Write(text[copied:at])
		out.WriteString(scaled(lit, factor))
		copied = at + len(lit)
	}
}

func scaled(literal string, factor float64) string {
	v, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return literal
	}
	if v >= 0.9 && v <= 1.5 && strings.Contains(literal, ".") {
		return point(strconv.FormatFloat(1+(v-1)*factor, 'g', 12, 64))
	}
	v *= factor
	if !strings.ContainsAny(literal, ".e") {
		return strconv.FormatFloat(math.Max(1, math.Round(v)), 'g', 12, 64)
	}
	return point(strconv.FormatFloat(v, 'g', 12, 64))
}

// point returns number in a form that the compiler always treats as a float.
func point(number string) string {
	if strings.ContainsAny(number, ".e") {
		return number
	}
	return number + ".0"
}

// Source returns the content of the file of c, in the module at root, with another value of c.
func (c Constant) Source(root, value string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, c.Path)) // #nosec G304 -- a file of this module
	if err != nil {
		return nil, err
	}
	return []byte(string(text[:c.at]) + value + string(text[c.at+len(c.Value):])), nil
}
