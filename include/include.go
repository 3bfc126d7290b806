// Package include embeds mpi.h and the header files that it includes, so that packages that import this one are rebuilt
// when one of them changes.
package include

import "embed"

//go:embed *.h
var _ embed.FS
