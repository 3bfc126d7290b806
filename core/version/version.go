// Package version owns the release number. The file VERSION beside it is its only place: Go embeds it, the build
// scripts and CMake read it. It knows nothing else of the project.
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

// Library is what MPI_Get_library_version gives. Bindings look for a name and the number behind it, and know by the
// name how to read the rest; so both come first, as in the texts of Open MPI, Intel and others, and no other library's
// name is in it.
func Library() string {
	return "gompirma " + String + ", MPI one-sided communication with the standard ABI, " + runtime.Version() +
		" " + runtime.GOOS + "/" + runtime.GOARCH
}

// Major is the number that the library's soname carries: programs built against one release run with any other of the
// same major.
func Major() string {
	major, _, _ := strings.Cut(String, ".")
	return major
}
