// Package datatype is the data path of datatypes in C. It contains the flattened types of core/datatype, a cursor over
// the bytes that they describe, and copies of these bytes. It also contains the kernels of the predefined operations,
// plain and atomic.
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

// The headers are embedded, so that packages that import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
