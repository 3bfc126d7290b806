// Package version owns the release number. The file VERSION in this directory is its only source: Go embeds it, and the
// build scripts and CMake read it. docs/PACKAGES.md lists the files that state it again. The package
// must not depend on other packages of the project.
package version

import (
	_ "embed"
	"runtime"
	"strings"
)

//go:embed VERSION
var file string

// String is the release as major.minor.patch, without a newline.
var String = strings.TrimSpace(file)

// Library returns the text of MPI_Get_library_version. Language bindings search the text for a known library's name and
// parse the version number after it. So name and number come first, as in the texts of other MPI libraries. The text
// must not contain another library's name.
func Library() string {
	return "gompirma " + String + ", MPI one-sided communication with the standard ABI, " + runtime.Version() +
		" " + runtime.GOOS + "/" + runtime.GOARCH
}

// Major returns the number in the library's soname: a program built against one release runs with any other release of
// the same major number.
func Major() string {
	major, _, _ := strings.Cut(String, ".")
	return major
}
