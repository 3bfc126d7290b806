package main

import (
	"strings"

	"gompirma/docs"
)

// environmentPage adds gompirma(7): man/tools/gompirma.txt, in which {variables} stands for the table of environment
// variables in docs/VARIABLES.md.
func environmentPage(root, date string, files map[string][]byte) error {
	r := &roff{}
	err := r.page(root, "gompirma", 7, date, []string{"gompirma"}, map[string]func(){"{variables}": r.variables})
	files["man/man7/gompirma.7"] = r.Bytes()
	return err
}

// variables writes the table of environment variables.
func (r *roff) variables() {
	for _, v := range docs.Variables() {
		r.line(".TP\n%s", r.inline(v.Names))
		r.text(capitalized(v.Sentence()))
	}
}

// capitalized returns a text that begins a sentence. Names of tools keep their lower case.
func capitalized(text string) string {
	if strings.HasPrefix(text, "gompi") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
