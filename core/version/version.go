// Package version owns the release number. The file VERSION beside it is its only place: Go embeds it, the build scripts and CMake read it.
// It knows nothing else of the project.
package version

import (
	_ "embed"
	"strings"
)

//go:embed VERSION
var file string

// String is the release as major.minor.patch, without a newline.
var String = strings.TrimSpace(file)

// Major is the number that the library's soname carries: programs built against one release run with any other of the same major.
func Major() string {
	major, _, _ := strings.Cut(String, ".")
	return major
}
