// Package docs has the parts of the documents that tools print.
package docs

import (
	_ "embed" // for VARIABLES.md
	"regexp"
	"strings"
)

//go:embed VARIABLES.md
var variables string

// Variable is a row of the table in VARIABLES.md: one or several environment variables with one meaning. The texts are
// Markdown without links.
type Variable struct {
	Names  string // one or several names, in backquotes
	ReadBy string // the parts of gompirma that read the variable
	Values string // the permitted values
	// Control is the type if they are control variables of the tool information interface, else "-".
	Control string
	Meaning string
}

// Default returns the default value of the variable, without backquotes. It returns "" if Values has no default.
func (v Variable) Default() string {
	if m := defaultValue.FindStringSubmatch(v.Values); m != nil {
		return strings.Trim(m[1], "`")
	}
	return ""
}

// Sentence returns the row's texts as a sentence that ends with a period.
func (v Variable) Sentence() string {
	text := v.Meaning + ". Values: " + v.Values + ". Read by: " + v.ReadBy + "."
	if v.Control != "-" {
		text += " Control variable: " + v.Control + "."
	}
	return text
}

var (
	variableRow  = regexp.MustCompile("(?m)^\\| (`[A-Z_]+`[^|]*) \\| ([^|]*) \\| ([^|]*) \\| ([^|]*) \\| (.*) \\|$")
	defaultValue = regexp.MustCompile(`; default ([^;]+)`)
	reference    = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// Variables returns the rows of the table in VARIABLES.md.
func Variables() (rows []Variable) {
	for _, m := range variableRow.FindAllStringSubmatch(variables, -1) {
		for i := range m {
			m[i] = reference.ReplaceAllString(m[i], "$1")
		}
		rows = append(rows, Variable{Names: m[1], ReadBy: m[2], Values: m[3], Control: m[4], Meaning: m[5]})
	}
	return rows
}
