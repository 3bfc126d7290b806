// Package docs has the parts of the documents that tools print.
package docs

import (
	_ "embed" // for VARIABLES.md
	"regexp"
)

//go:embed VARIABLES.md
var variables string

// Variable is a row of the table in VARIABLES.md: one or several environment variables with one meaning. The texts are
// Markdown without links.
type Variable struct {
	Names   string // one or several names, in backquotes
	ReadBy  string // the parts of gompirma that read the variable
	Values  string // the permitted values
	Meaning string
}

var (
	variableRow = regexp.MustCompile("(?m)^\\| (`[A-Z_]+`[^|]*) \\| ([^|]*) \\| ([^|]*) \\| (.*) \\|$")
	reference   = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// Variables returns the rows of the table in VARIABLES.md.
func Variables() (rows []Variable) {
	for _, m := range variableRow.FindAllStringSubmatch(variables, -1) {
		for i := range m {
			m[i] = reference.ReplaceAllString(m[i], "$1")
		}
		rows = append(rows, Variable{Names: m[1], ReadBy: m[2], Values: m[3], Meaning: m[4]})
	}
	return rows
}
