package main

import (
	"bytes"
	"fmt"
	"strings"

	"gompirma/core/abi/genfile"
)

// fortran collects free-form source text. It breaks statements into lines of at most 130 characters.
type fortran struct {
	bytes.Buffer
	indent int
}

func (t *fortran) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text == "" {
		t.WriteByte('\n')
		return
	}
	text = strings.Repeat("  ", t.indent) + text
	for len(text) > 128 && !strings.HasPrefix(strings.TrimSpace(text), "!") {
		cut := strings.LastIndexAny(text[:127], ", ")
		t.WriteString(strings.TrimRight(text[:cut+1], " ") + " &\n")
		text = strings.Repeat("  ", t.indent+2) + strings.TrimLeft(text[cut+1:], " ")
	}
	t.WriteString(text + "\n")
}

// differs calls the function `write` with 4. If `yes` is set, it also calls `write` with 8, and writes the preprocessor
// lines that select the code for INTEGERs of 4 or of 8 bytes.
func (t *fortran) differs(yes bool, write func(bytes int)) {
	if !yes {
		write(4)
		return
	}
	t.only8(func() { write(8) })
	t.Truncate(t.Len() - len("#endif\n"))
	t.WriteString("#else\n")
	write(4)
	t.WriteString("#endif\n")
}

// only8 writes code for INTEGERs of 8 bytes only.
func (t *fortran) only8(write func()) {
	t.WriteString("#ifdef GOMPI_F_INTEGER_8\n")
	write()
	t.WriteString("#endif\n")
}

// wrap wraps the arguments of a C function or call.
func wrap(head string, items []string) string { return genfile.Wrap(head, items, ")", "        ") }
