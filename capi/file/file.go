// Package file implements MPI-IO (MPI-5.0 14): files, their views, and the calls that read and write them. For
// messages, collectives and windows it calls the functions that implement the MPI calls. Each file has its own
// communicator, and its own windows where it needs them.
//
// It must not know how data reaches other processes.
package file

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility=hidden
#cgo CFLAGS: -I${SRCDIR}/.. -I${SRCDIR}/../../include
*/
import "C"

import (
	"embed"

	_ "gompirma/capi/base"
	_ "gompirma/capi/coll"
	_ "gompirma/capi/comm"
	_ "gompirma/capi/datatype"
	_ "gompirma/capi/errors"
	_ "gompirma/capi/info"
	_ "gompirma/capi/message"
	_ "gompirma/capi/pack"
	_ "gompirma/capi/rma"
	_ "gompirma/capi/session"
	_ "gompirma/capi/win"
)

// The headers are embedded so that packages which import this one are rebuilt when a header changes.
//
//go:embed *.h
var _ embed.FS
