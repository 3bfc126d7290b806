package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"gompirma/docs"
)

// Variable describes an environment variable; its JSON names are part of the interface.
type Variable struct {
	Name    string  `json:"name"`
	Value   *string `json:"value"` // nil if the variable is not set
	ReadBy  string  `json:"read_by"`
	Values  string  `json:"values"`
	Control string  `json:"control_variable"` // its type, or "-" if it is none
	Meaning string  `json:"meaning"`
	text    string
}

var variableName = regexp.MustCompile("`([A-Z_]+[A-Z])`")

// variables returns the environment variables of gompirma with their values.
func variables() (all []Variable) {
	for _, row := range docs.Variables() {
		for _, m := range variableName.FindAllStringSubmatch(row.Names, -1) {
			v := Variable{Name: m[1], ReadBy: row.ReadBy, Values: strings.ReplaceAll(row.Values, "`", ""),
				Control: row.Control, Meaning: strings.ReplaceAll(row.Meaning, "`", ""),
				text: strings.ReplaceAll(row.Sentence(), "`", "")}
			if value, isSet := os.LookupEnv(v.Name); isSet {
				v.Value = &value
			}
			all = append(all, v)
		}
	}
	return all
}

// printVariables prints the variables, each with its value if it is set, and what they mean.
func printVariables(asJSON bool, out io.Writer) error {
	all := variables()
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(all)
	}
	var text strings.Builder
	for i, v := range all {
		text.WriteString(v.Name)
		if v.Value != nil {
			fmt.Fprintf(&text, "=%s", *v.Value)
		}
		text.WriteByte('\n')
		if i+1 < len(all) && all[i+1].text == v.text {
			continue // the next variable has the same description
		}
		text.WriteString(indented(v.text))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// indented breaks a text into indented lines of at most 80 columns.
func indented(text string) string {
	const columns, indent = 80, "      "
	var lines strings.Builder
	line := indent
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > columns {
			lines.WriteString(line + "\n")
			line = indent
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	return lines.String() + line + "\n"
}
