// Package base is the foundation of the data path in C code. It contains the layout of the memory that a node shares,
// all memory orders, waiting and waking, the barrier, error reporting, and the callbacks to the layers above
// (go_callbacks.h).
//
// It must not know windows, datatypes or messages.
package base

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/include"
)

// The headers are embedded so that the packages that import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
