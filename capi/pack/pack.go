// Package pack implements MPI_Pack and MPI_Unpack, in C (MPI-5.0 5.2 and 5.3).
package pack

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/comm"
	_ "gompirma/capi/datatype"
)

// The headers are embedded so that packages which import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
