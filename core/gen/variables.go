package main

import (
	"fmt"
	"regexp"
	"strings"

	"gompirma/docs"
)

var (
	variableName = regexp.MustCompile("`([A-Z_]+)`")
	// cvarKinds maps the types of control variables in docs/VARIABLES.md to the kinds of capi/tool/tool.h.
	cvarKinds = map[string]string{"text": "CVAR_TEXT", "flag": "CVAR_FLAG", "choice, writable": "CVAR_HINT",
		"integer, writable": "CVAR_TIME"}
)

// variables generates what docs/VARIABLES.md says about the control variables, as initializers in C.
func variables() ([]byte, error) {
	var text strings.Builder
	count := 0
	text.WriteString(notice + "// The control variables in docs/VARIABLES.md.\n\n")
	for _, v := range docs.Variables() {
		kind := cvarKinds[v.Control]
		if (kind != "") != (v.ReadBy == "library" && strings.HasPrefix(v.Names, "`GOMPIRMA_")) {
			return nil, fmt.Errorf("docs/VARIABLES.md: %s cannot be %q", v.Names, v.Control)
		}
		if kind == "" {
			continue
		}
		description := strings.NewReplacer("`", "", `"`, `\"`).Replace(v.Meaning + ". Values: " + v.Values)
		for _, m := range variableName.FindAllStringSubmatch(v.Names, -1) {
			count++
			fmt.Fprintf(&text, "#define VARIABLE_%s \\\n\t.name = \"%[1]s\", .fallback = \"%s\", "+
				".kind = %s, \\\n\t.desc = \"%s\"\n", m[1], v.Default(), kind, description)
		}
	}
	fmt.Fprintf(&text, "enum { GOMPI_VARIABLES = %d };\n", count)
	return []byte(text.String()), nil
}
