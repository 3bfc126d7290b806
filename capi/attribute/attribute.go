// Package attribute implements, in C, the keyvals, attributes and names of communicators, windows and datatypes.
//
// It must not know those objects: each object has a table of its own.
package attribute

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
)

// The embedded headers are part of the package's contents, so that go build recompiles the importers when a header
// changes.
//
//go:embed *.h
var _ embed.FS
