// Package datatype walks in C over the bytes that a datatype describes, copies them, and updates elements: the
// flattened types of core/datatype, a cursor over them, and the kernels of the predefined operations, plain and atomic.
//
// It must not know windows or processes.
package datatype

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/attribute"
	_ "gompirma/capi/base"
)

// The headers are part of what the package is, so that who imports it is compiled anew when one changes.
//
//go:embed *.h
var _ embed.FS
