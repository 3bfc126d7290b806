package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// environmentPage adds gompirma(7): man/tools/gompirma.txt, in which {variables} stands for the table of environment
// variables in docs/ONE-SIDED.md. A test compares this table with the control variables of the library.
func environmentPage(root, date string, files map[string][]byte) error {
	document, err := os.ReadFile(filepath.Join(root, "docs/ONE-SIDED.md"))
	if err != nil {
		return err
	}
	r := &roff{}
	rows := 0
	err = r.page(root, "gompirma", 7, date, []string{"gompirma"}, map[string]func(){
		"{variables}": func() { rows = r.variables(string(document)) },
	})
	if err == nil && rows < 10 {
		err = fmt.Errorf("docs/ONE-SIDED.md has no table of environment variables")
	}
	files["man/man7/gompirma.7"] = r.Bytes()
	return err
}

var (
	variableRow = regexp.MustCompile("(?m)^\\| (`[A-Z_]+`[^|]*) \\| ([^|]*) \\| ([^|]*) \\| (.*) \\|$")
	reference   = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// variables writes the rows of the document's table of environment variables, and returns their number.
func (r *roff) variables(document string) int {
	_, table, _ := strings.Cut(document, "## Variables of the environment")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := variableRow.FindAllStringSubmatch(table, -1)
	for _, m := range rows {
		for i := range m {
			m[i] = reference.ReplaceAllString(m[i], "$1")
		}
		r.line(".TP\n%s", r.inline(m[1]))
		r.text(capitalized(m[4]) + ". Values: " + m[3] + ". Read by: " + m[2] + ".")
	}
	return len(rows)
}

// capitalized returns a text that begins a sentence. Names of tools keep their lower case.
func capitalized(text string) string {
	if strings.HasPrefix(text, "gompi") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
